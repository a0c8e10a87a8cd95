import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServices } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyCrossEncoder } from '../test/tiny-model.js';
import { createReranker, type LocalReranker } from './reranker.js';
import { createTokenizer } from './tokenizer.js';

let folder: string;
let reranker: LocalReranker;
beforeAll(async () => {
  const tokenizer = await createTokenizer({ folder: testServices().model });
  folder = join(await mkdtemp(join(tmpdir(), 'sluice-reranker-')), 'Tiny', 'cross-encoder');
  await writeTinyCrossEncoder(folder, testServices().model, tokenizer.pieces('cobalt')[0] ?? 0);
  reranker = await createReranker({ folder, threads: 2 });
});
afterAll(async () => {
  await reranker.close();
  await rm(join(folder, '../..'), { recursive: true });
});

/** The tiny model's own law. */
const scoreOf = (count: number) => 1 / (1 + Math.exp(-(count * 4 - 2)));

describe('createReranker', () => {
  it('scores each text with the query, in order, by the logistic of its logit', async () => {
    const scores = await reranker.rerank('cobalt?', ['cobalt', 'nothing', 'cobalt and cobalt', '']);
    expect(scores).toHaveLength(4);
    for (const [index, count] of [1, 0, 2, 0].entries()) expect(scores[index]).toBeCloseTo(scoreOf(count), 6);
    expect(await reranker.rerank('x', [])).toEqual([]);
  });

  it.each([0, 30, 59, 60, 61, 100, 250, 399])(
    'finds what answers wherever it stands in a long text (piece %d)',
    async (place) => {
      const words = Array.from({ length: 400 }, (_, n) => (n === place ? 'cobalt' : 'word'));
      const [score, without] = await reranker.rerank('what is it', [words.join(' '), 'word '.repeat(400)]);
      expect(score).toBeCloseTo(scoreOf(1), 6);
      expect(without).toBeCloseTo(scoreOf(0), 6);
    },
  );

  it('leaves room for the text beside a query that is too long', async () => {
    const [score] = await reranker.rerank('why '.repeat(500), ['cobalt']);
    expect(score).toBeCloseTo(scoreOf(1), 6);
  });

  it('names its model and refuses one that scores no pairs', async () => {
    expect(reranker.id).toMatch(/^Tiny\/cross-encoder@[0-9a-f]{64}:onnxruntime-node-/);
    await expect(createReranker({ folder: testServices().model, threads: 1 })).rejects.toMatchObject({
      code: 'model_unavailable',
    });
  });
});
