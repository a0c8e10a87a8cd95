import type { Embedder } from '@sluice/core';
import { createEmbedder, createTokenizer } from '@sluice/models';
import { testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';
import { createVectorCache } from '../src/strategies/sentence-vectors.js';
import { oneElement, parse } from './documents.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();

/** Vectors in the plane whose adjacent cosines are the ones given, sentence by sentence. */
function createTurningEmbedder(cosines: readonly number[]): Embedder & { calls: string[] } {
  const calls: string[] = [];
  const angles = [0];
  for (const cosine of cosines) angles.push((angles.at(-1) ?? 0) + Math.acos(cosine));
  return {
    id: 'turning',
    dimensions: 2,
    maxTokens: 256,
    calls,
    async embed(texts) {
      return texts.map((text) => {
        calls.push(text);
        const angle = angles[Number(/\d+/.exec(text)?.[0] ?? 0)] ?? 0;
        return new Float32Array([Math.cos(angle), Math.sin(angle)]);
      });
    },
  };
}

const sentences = (count: number) => Array.from({ length: count }, (_, index) => `Sentence number ${index} says something.`);
const REAL = [0.27, 0.32, 0.22, -0.01, 0.41, 0.28, 0.48];

async function cut(count: number, embedder: Embedder, settings: Record<string, unknown> = {}) {
  const document = oneElement(sentences(count).join(' '));
  const { chunks } = await chunkDocument(document, { strategy: 'semantic', min_tokens: 0, ...settings }, { tokenizer, embedder });
  return chunks.map((chunk) => chunk.text.split(/(?<=\.) /).map((sentence) => Number(/\d+/.exec(sentence)?.[0])));
}

describe('cuts', () => {
  it('once at the turn, by the percentile of distances interpolated between ranks', async () => {
    expect(await cut(8, createTurningEmbedder(REAL))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    // Distances .73 .68 .78 1.01 .59 .72 .52: the 60th percentile is .726.
    expect(await cut(8, createTurningEmbedder(REAL), { percentile: 60 })).toEqual([[0], [1, 2], [3], [4, 5, 6, 7]]);
  });

  it('below an absolute cosine', async () => {
    expect(await cut(8, createTurningEmbedder(REAL), { threshold: 0.25 })).toEqual([[0, 1, 2], [3], [4, 5, 6, 7]]);
    expect(await cut(8, createTurningEmbedder(REAL), { threshold: -1 })).toEqual([[0, 1, 2, 3, 4, 5, 6, 7]]);
  });

  it('nowhere where all distances are equal: none is strictly greater', async () => {
    expect(await cut(6, createTurningEmbedder([0.5, 0.5, 0.5, 0.5, 0.5]), { threshold: 0.5 })).toHaveLength(1);
    expect(await cut(2, createTurningEmbedder([0.1]))).toHaveLength(1);
  });

  it('by the sentences around only: a turn far away does not hide one that is deep for its place', async () => {
    const calm = Array.from({ length: 120 }, (_, index) => (index === 60 ? 0.7 : 0.95 + (index % 7) / 200));
    const wild = Array.from({ length: 120 }, (_, index) => -0.9 + (index % 11) / 20);
    const groups = await cut(241, createTurningEmbedder([...calm, ...wild]), {
      neighbourhood: 20,
      max_chars: 100_000,
      min_tokens: undefined,
    });
    expect(groups.some((group) => group[0] === 61)).toBe(true);
  });

  it('with a buffer, by what neighbours mean together', async () => {
    const cosines = [0.99, 0.99, 0.2, 0.99, 0.99, 0.99];
    const alone = await cut(7, createTurningEmbedder(cosines), { threshold: 0.5 });
    const buffered = await cut(7, createTurningEmbedder(cosines), { threshold: 0.5, buffer: 2 });
    expect(alone).toHaveLength(2);
    expect(buffered).toHaveLength(1);
  });
});

describe('sizes', () => {
  it('joins small pieces instead of dropping them', async () => {
    const groups = await cut(8, createTurningEmbedder([0, 0, 0, 0, 0, 0, 0]), { threshold: 0.5, min_tokens: 30 });
    expect(groups.flat()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(groups.length).toBeLessThan(8);
    expect(Math.min(...groups.map((group) => group.length))).toBeGreaterThan(1);
  });

  it('parts what is over the maximum at its deepest break', async () => {
    const cosines = [0.9, 0.9, 0.9, 0.6, 0.9, 0.9, 0.9, 0.9];
    expect(await cut(9, createTurningEmbedder(cosines), { threshold: 0, max_tokens: 70 })).toContainEqual([0, 1, 2, 3]);
  });
});

describe('embeds', () => {
  it('each sentence once, and none again that it knows', async () => {
    const embedder = createTurningEmbedder(REAL);
    const vectors = createVectorCache();
    const deps = { tokenizer, embedder, vectors };
    const text = sentences(8).join(' ');
    await chunkDocument(oneElement(`${text} ${text}`), { strategy: 'semantic', buffer: 2 }, deps);
    expect(embedder.calls.toSorted()).toEqual(sentences(8));
    await chunkDocument(oneElement(`${text} A new one, number 3.`), { strategy: 'semantic' }, deps);
    expect(embedder.calls).toHaveLength(9);
  });

  it('no heading with a sentence, no table and no code', async () => {
    const embedder = createTurningEmbedder(REAL);
    const document = await parse(
      '# Title\n\nSentence one. Sentence two.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode()\n```\n',
      'a.md',
    );
    await chunkDocument(document, { strategy: 'semantic' }, { tokenizer, embedder });
    expect(embedder.calls).toEqual(['Sentence one.', 'Sentence two.']);
  });
});

it('finds the turn of a real text with the real model', async () => {
  const folder = testServices().model;
  const embedder = await createEmbedder({ folder, threads: 1 });
  try {
    const kettle =
      'The kettle boils water for tea in three minutes. Its switch turns off when the steam rises. Limescale in the kettle is removed with vinegar. A full kettle holds enough water for eight cups of tea.';
    const orbit =
      'The satellite circles the Earth every ninety minutes. Its orbit is corrected by small thrusters. Solar panels feed the batteries of the satellite. Ground stations receive its radio signal on each pass.';
    const real = await createTokenizer({ folder });
    const { chunks } = await chunkDocument(
      oneElement(`${kettle} ${orbit}`),
      { strategy: 'semantic' },
      { tokenizer: real, embedder },
    );
    expect(chunks.map((chunk) => chunk.text)).toEqual([kettle, orbit]);
  } finally {
    await embedder.close();
  }
});
