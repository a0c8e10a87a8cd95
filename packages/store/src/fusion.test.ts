import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, type RawHit } from './fusion.js';

const hit = (id: string, score: number): RawHit => ({ id, doc_uuid: `d${id}`, rev: 'r', score });
const order = (hits: { id: string; score: number }[]) => [...hits].sort((a, b) => b.score - a.score).map(({ id }) => id);

describe('fusion', () => {
  const dense = [hit('a', 0.9), hit('b', 0.5), hit('c', 0.1)];
  const keyword = [hit('c', 8), hit('d', 4)];

  it('brings each part to 0..1, weighs and adds', () => {
    const scores = new Map(fuse({ dense, keyword }, { mode: 'hybrid', alpha: 0.6 }).map((one) => [one.id, one]));
    expect(scores.get('a')?.score).toBeCloseTo(0.6);
    expect(scores.get('b')?.score).toBeCloseTo(0.3);
    expect(scores.get('c')?.score).toBeCloseTo(0.4);
    expect(scores.get('d')?.score).toBeCloseTo(0.4 * (4 / 8));
    expect(scores.get('c')?.scores).toMatchObject({ dense: 0.1, keyword: 8 });
    expect(scores.get('a')?.scores).not.toHaveProperty('keyword');
    expect(scores.get('a')?.scores.fused).toBeCloseTo(0.6);
  });

  it('leaves keyword hits alone at 0 and the dense order at 1', () => {
    expect(order(fuse({ dense, keyword }, { mode: 'hybrid', alpha: 0 }))).toEqual(['c', 'd']);
    expect(order(fuse({ dense, keyword }, { mode: 'hybrid', alpha: 1 }))).toEqual(['a', 'b', 'c']);
  });

  it('keeps the scores of a single mode', () => {
    expect(fuse({ dense, keyword: [] }, { mode: 'dense', alpha: 0.5 })[0]).toMatchObject({ score: 0.9, scores: { dense: 0.9 } });
    expect(fuse({ dense: [], keyword }, { mode: 'keyword', alpha: 0.5 })[0]).toMatchObject({ score: 8, scores: { keyword: 8 } });
    expect(fuse({ dense: [], keyword }, { mode: 'keyword', alpha: 0.5 })[0]?.scores).not.toHaveProperty('fused');
  });

  it('shows shares of the greatest keyword score to those who may not see all', () => {
    const asked = { mode: 'keyword', alpha: 0.5, relativeKeyword: true } as const;
    expect(fuse({ dense: [], keyword }, asked).map(({ score, scores }) => [score, scores.keyword])).toEqual([
      [1, 1],
      [0.5, 0.5],
    ]);
    const hybrid = fuse({ dense, keyword }, { ...asked, mode: 'hybrid', alpha: 0.6 });
    expect(hybrid.find(({ id }) => id === 'c')).toMatchObject({ scores: { dense: 0.1, keyword: 1 } });
    // The order and the fused scores are those of all.
    const plain = fuse({ dense, keyword }, { mode: 'hybrid', alpha: 0.6 });
    expect(hybrid.map(({ id, score }) => [id, score])).toEqual(plain.map(({ id, score }) => [id, score]));
  });

  it('gives a part of equal scores their full weight, and empty parts nothing', () => {
    expect(fuse({ dense: [], keyword: [hit('x', 3)] }, { mode: 'hybrid', alpha: 0.5 })[0]?.score).toBeCloseTo(0.5);
    expect(fuse({ dense: [], keyword: [] }, { mode: 'hybrid', alpha: 0.5 })).toEqual([]);
  });

  it('is in 0..1, has each chunk once, and grows with either part', () => {
    const part = fc.uniqueArray(
      fc.record({ id: fc.constantFrom(...'abcdefgh'), score: fc.double({ min: -1, max: 20, noNaN: true }) }),
      {
        selector: (one) => one.id,
      },
    );
    fc.assert(
      fc.property(part, part, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, alpha) => {
        const pool = { dense: a.map(({ id, score }) => hit(id, score)), keyword: b.map(({ id, score }) => hit(id, score)) };
        const fused = fuse(pool, { mode: 'hybrid', alpha });
        expect(new Set(fused.map((one) => one.id)).size).toBe(fused.length);
        for (const one of fused) {
          expect(one.score).toBeGreaterThanOrEqual(0);
          expect(one.score).toBeLessThanOrEqual(1 + 1e-9);
        }
        for (const x of fused) {
          for (const y of fused) {
            const better = (part: 'dense' | 'keyword') => (x.scores[part] ?? -2) >= (y.scores[part] ?? -2);
            if (better('dense') && better('keyword')) expect(x.score).toBeGreaterThanOrEqual(y.score - 1e-9);
          }
        }
      }),
    );
  });
});
