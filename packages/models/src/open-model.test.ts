import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelChoice, modelIdentity } from './open-model.js';

let base: string;
let folder: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-identity-'));
  folder = join(base, 'model');
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), 'weights');
  await writeFile(join(folder, 'tokenizer.json'), '{}');
  await writeFile(join(folder, 'config.json'), '{"hidden_size":8}');
});
afterAll(() => rm(base, { recursive: true }));

const local = (more: Partial<ModelChoice> = {}) => modelIdentity({ model: 'm', folder, threads: 1, ...more });

/** A copy of the model in which one file is another. */
async function changed(file: string, content: string): Promise<string> {
  const copy = await mkdtemp(join(base, 'copy-'));
  await cp(folder, copy, { recursive: true });
  await writeFile(join(copy, file), content);
  return copy;
}

describe('modelIdentity', () => {
  it('is that of the files, wherever they lie', async () => {
    expect(await local({ folder: await changed('README.md', 'moved') })).toEqual(await local());
    expect(await local({ threads: 4, queryPrefix: 'query: ' })).toEqual(await local());
  });

  it.each([
    ['weights', async () => ({ folder: await changed('onnx/model_quantized.onnx', 'others') })],
    ['a tokenizer', async () => ({ folder: await changed('tokenizer.json', '{"a":1}') })],
    ['a passage prefix', async () => ({ passagePrefix: 'passage: ' })],
    ['the pooling', async () => ({ pooling: 'cls' as const })],
  ])('changes with %s under the same name', async (_what, change) => {
    const one = await local();
    const other = await local(await change());
    expect(other.id).not.toBe(one.id);
    expect(other.collection).not.toBe(one.collection);
    expect(other.collection).toMatch(/^m-[0-9a-f]{10}$/);
  });

  it('of an endpoint is that of its model, dimensions and prefix, not of its address', async () => {
    const endpoint = { baseUrl: 'http://one', batch: 1, concurrency: 1, timeoutMs: 1000, pricePerMillionTokens: 0 };
    const remote = (more: Partial<ModelChoice> = {}, ofEndpoint = {}) =>
      modelIdentity({ model: 'm', threads: 1, endpoint: { ...endpoint, ...ofEndpoint }, ...more });
    const one = await remote();
    expect(await remote({}, { baseUrl: 'http://two', apiKey: 'k', batch: 9 })).toEqual(one);
    const others = await Promise.all([
      remote({ model: 'n' }),
      remote({}, { dimensions: 8 }),
      remote({ passagePrefix: 'passage: ' }),
      local(),
    ]);
    expect(new Set([one, ...others].map(({ id }) => id)).size).toBe(5);
    // Another count of tokens cuts other chunks, but the same text has the same vector.
    const counted = await remote({ folder });
    expect(counted.id).toBe(one.id);
    expect(counted.tokenizer).not.toBe(one.tokenizer);
  });
});
