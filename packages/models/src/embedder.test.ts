import { dirname } from 'node:path';
import { silentLogger } from '@sluice/telemetry';
import { testServices } from '@sluice/testkit';
import { env, pipeline } from '@xenova/transformers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbedder, type LocalEmbedder } from './embedder.js';

const folder = testServices().model;
const logger = silentLogger();
let embedder: LocalEmbedder;
beforeAll(async () => {
  embedder = await createEmbedder({ folder, threads: 2, logger });
});
afterAll(() => embedder.close());

const SENTENCES = [
  'The vault opens with cobalt.',
  'How does the telescope keep its instruments cold?',
  'A sunshield of five layers keeps the mirror and the instruments cold.',
  'Naïve café owners don’t tokenise 東京.',
  '',
];

function cosine(a: Float32Array | undefined, b: ArrayLike<number> | undefined): number {
  let sum = 0;
  for (let d = 0; d < (a?.length ?? 0); d++) sum += (a?.[d] ?? 0) * (b?.[d] ?? 0);
  return sum;
}

describe('createEmbedder', () => {
  it('gives the vectors of the pipeline of the library, of length 1', async () => {
    env.allowRemoteModels = false;
    env.localModelPath = dirname(dirname(folder));
    const extract = await pipeline('feature-extraction', folder.split('/').slice(-2).join('/'), { quantized: true });
    const vectors = await embedder.embed(SENTENCES);
    for (const [index, text] of SENTENCES.entries()) {
      const expected = await extract(text, { pooling: 'mean', normalize: true });
      expect(vectors[index]).toHaveLength(384);
      expect(cosine(vectors[index], vectors[index])).toBeCloseTo(1, 5);
      expect(cosine(vectors[index], expected.data as Float32Array)).toBeCloseTo(1, 5);
    }
  });

  it('gives a text the same vector alone, beside others and at the same time as others', async () => {
    const texts = Array.from({ length: 60 }, (_, n) => `${SENTENCES[n % 4]} Number ${n}. ${'more words '.repeat(n)}`);
    const serial: Float32Array[] = [];
    for (const text of texts) serial.push(...(await embedder.embed([text])));
    const together = await embedder.embed(texts);
    const concurrent = (
      await Promise.all(texts.map((text) => embedder.embed([text], undefined, { urgent: text.length % 2 === 0 })))
    ).flat();
    expect(together).toEqual(serial);
    expect(concurrent).toEqual(serial);
  });

  it('loads the model once a thread, however cold and however many ask at once', async () => {
    const cold = await createEmbedder({ folder, threads: 1 });
    const jobs = Array.from({ length: 200 }, (_, job) => Array.from({ length: 10 }, (__, n) => `job ${job} text ${n}`));
    let next = 0;
    const memory: number[] = [];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (next < jobs.length) {
          const job = jobs[next++] ?? [];
          expect(await cold.embed(job)).toHaveLength(10);
          memory.push(process.memoryUsage().rss);
        }
      }),
    );
    expect(cold.stats()).toEqual({ threads: 1, loads: 1, deaths: 0 });
    expect(memory[199]).toBeLessThan((memory[49] ?? 0) * 1.15);
    await cold.close();
  });

  it.each([
    ['a long text', 'steady filler words '.repeat(130)],
    ['600 ideographs', '望远镜的遮阳板有五层可以让仪器保持低温'.repeat(32)],
    ['400 hexadecimal digits with a break now and then', '0f3a-'.repeat(100)],
  ])('refuses %s instead of cutting it, and names the count', async (_, text) => {
    const tokens = embedder.tokenizer.count(text);
    expect(tokens).toBeGreaterThan(256);
    await expect(embedder.embed(['short', text])).rejects.toMatchObject({
      code: 'limit_exceeded',
      kind: 'permanent',
      message: new RegExp(`2 of 2 has ${tokens} word pieces.*256`),
    });
  });

  it('takes a text of exactly the limit, whose last word still counts', async () => {
    const filler = 'word '.repeat(253);
    expect(embedder.tokenizer.count(`${filler}cobalt`)).toBe(256);
    const [cobalt, saffron] = await embedder.embed([`${filler}cobalt`, `${filler}potato`]);
    expect(cosine(cobalt, saffron)).toBeLessThan(0.9999);
  });

  it('puts the passage that answers first', async () => {
    const passages = [
      'The vault opens with cobalt.',
      'A sunshield of five layers keeps the instruments cold.',
      'Its orbit takes half a year.',
    ];
    const [query, ...vectors] = await embedder.embed(['How does the telescope keep its instruments cold?', ...passages]);
    const scores = vectors.map((vector) => cosine(query, vector));
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
  });

  it('stops when it is told to, and goes on with the rest', async () => {
    const control = new AbortController();
    const aborted = embedder.embed(
      Array.from({ length: 400 }, (_, n) => `text ${n} ${'word '.repeat(200)}`),
      control.signal,
    );
    const other = embedder.embed(['still wanted']);
    await other;
    control.abort(new Error('no longer wanted'));
    await expect(aborted).rejects.toThrow('no longer wanted');
    await expect(embedder.embed(['x'], control.signal)).rejects.toThrow('no longer wanted');
    expect(await embedder.embed(['still wanted'])).toEqual(await other);
  });

  it('works again in new threads after the last ones have ended', async () => {
    for (let generation = 0; generation < 3; generation++) {
      const again = await createEmbedder({ folder, threads: 2 });
      expect(await again.embed(SENTENCES)).toEqual(await embedder.embed(SENTENCES));
      await again.close();
      await expect(again.embed(['x'])).rejects.toMatchObject({ code: 'embed_failed' });
    }
  });

  it('identifies the weights, the tokenizer, the engine, the pooling and the prefix', () => {
    expect(embedder.id).toMatch(/^[0-9a-f]{64}:[0-9a-f]{16}:onnxruntime-node-1\.14\.0:mean:none$/);
    expect(embedder).toMatchObject({ dimensions: 384, maxTokens: 256 });
  });

  it('says what is missing in a folder that holds no model', async () => {
    await expect(createEmbedder({ folder: '/nowhere', threads: 1 })).rejects.toMatchObject({
      code: 'model_unavailable',
      message: /\/nowhere/,
    });
  });
});
