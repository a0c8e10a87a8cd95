import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TinyTokenizerKind, writeTinyTokenizer } from '@sluice/testkit';
import { PreTrainedTokenizer } from '@xenova/transformers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyWeight, writeTinyEncoder } from '../test/tiny-model.js';
import { createEmbedder } from './embedder.js';
import { readProfile } from './model-profile.js';
import { openModel, resolveModel } from './open-model.js';
import { createTokenizer, type ModelTokenizer } from './tokenizer.js';

let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-tiny-'));
});
afterAll(() => rm(base, { recursive: true }));

const WORDS = [
  'the',
  'kettle',
  'boils',
  "don't",
  'v2.17',
  'Übermaß',
  'e\u0301a',
  '今天下雨。',
  'हम',
  'هل',
  '👩‍👩‍👧',
  'ﬁne',
  '한국어',
  'xxxxx',
  '<s>',
  'a</s>b',
  '\u00ad',
  '\u200d',
];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'grapheme', maxLength: 8 })), { maxLength: 12 })
  .map((words) => words.join(' ').trim().split(/\s+/).join(' '));

describe.each<TinyTokenizerKind>(['unigram', 'bpe'])('the tokenizer of a model of kind %s', (kind) => {
  let folder: string;
  let ours: ModelTokenizer;
  let library: (text: string) => number[];
  beforeAll(async () => {
    folder = join(base, kind);
    const size = await writeTinyTokenizer(folder, kind);
    await writeTinyEncoder(folder, size);
    ours = await createTokenizer({ folder });
    const json: unknown = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8'));
    const tokenizer = new PreTrainedTokenizer(json as object, { unk_token: '<unk>' });
    library = (text) => tokenizer.encode(kind === 'bpe' && text !== '' ? ` ${text}` : text);
  });

  it('gives the pieces of the library where words are one space apart', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect([...ours.encode(text)]).toEqual(library(text));
      }),
      { numRuns: 1000 },
    );
    expect(ours).toMatchObject({ kind: 'general', maxTokens: 256, specialTokens: 2 });
  });

  it('counts what it encodes, adds up over words, and has ordered offsets inside the text', () => {
    fc.assert(
      fc.property(texts, texts, fc.constantFrom(' ', '\n\n', '\t \u3000'), (a, b, space) => {
        const text = a + space + b;
        const offsets = ours.offsets(text);
        expect(ours.count(text)).toBe(offsets.length + 2);
        expect(ours.encode(text)).toHaveLength(offsets.length + 2);
        expect(ours.count(text)).toBe(ours.count(a) + ours.count(b) - 2);
        let { start, end } = { start: 0, end: 0 };
        for (const piece of offsets) {
          expect(piece.start).toBeGreaterThanOrEqual(start);
          expect(piece.end).toBeGreaterThanOrEqual(end);
          expect(piece.end).toBeGreaterThan(piece.start);
          ({ start, end } = piece);
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 1000 },
    );
  });

  it('points at the original characters', () => {
    const shown = (text: string) => ours.offsets(text).map(({ start, end }) => text.slice(start, end));
    expect(shown('the kettle')).toEqual(['the', 'kettle']);
    // A piece that is the space before the word alone names the word's first character.
    expect(shown('xxxx')).toEqual(['x', 'xxxx']);
    expect(shown('x <s> y')).toContain('<s>');
    expect(shown('今天下雨。').join('')).toContain('雨');
  });

  it.each(['mean', 'cls', 'last'] as const)('makes vectors by pooling %s', async (pooling) => {
    const embedder = await createEmbedder({ folder, threads: 1, pooling });
    try {
      const [vector] = await embedder.embed(['the kettle boils']);
      const ids = [...ours.encode('the kettle boils')];
      const used = { mean: ids, cls: ids.slice(0, 1), last: ids.slice(-1) }[pooling];
      const sums = Array.from({ length: 8 }, (_, d) => used.reduce((sum, id) => sum + tinyWeight(id, d), 0));
      const norm = Math.hypot(...sums);
      for (const [d, sum] of sums.entries()) expect(vector?.[d]).toBeCloseTo(sum / norm, 5);
    } finally {
      await embedder.close();
    }
  });

  it('takes its use from the files of the model, and its limit holds for the last word', async () => {
    const model = join(base, `${kind}-used`);
    await writeTinyEncoder(model, await writeTinyTokenizer(model, kind));
    await mkdir(join(model, '1_Pooling'));
    await writeFile(join(model, '1_Pooling', 'config.json'), '{"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true}');
    await writeFile(join(model, 'config_sentence_transformers.json'), '{"prompts":{"query":"the ","document":"a "}}');
    const choice = await resolveModel({ model: 'm', folder: model, threads: 1 });
    expect(choice).toMatchObject({ pooling: 'mean', passagePrefix: 'a ', queryPrefix: 'the ' });
    const opened = await openModel(choice, {});
    try {
      const plain = await createTokenizer({ folder: model });
      expect(opened.tokenizer.count('kettle')).toBe(plain.count('a kettle'));
      const [asked] = await opened.embed(['kettle'], undefined, { as: 'query' });
      const [stored] = await opened.embed(['kettle']);
      expect(asked).not.toEqual(stored);
      const room = opened.maxTokens - opened.tokenizer.specialTokens;
      const words = (count: number, last: string) => `${'the '.repeat(count - 1)}${last}`;
      const [one, other] = await opened.embed([words(room, 'kettle'), words(room, 'the')]);
      expect(one).not.toEqual(other);
      await expect(opened.embed([words(room + 1, 'the')])).rejects.toMatchObject({ code: 'limit_exceeded' });
    } finally {
      await opened.close();
    }
  });
});

describe('readProfile', () => {
  const profileOf = async (files: Record<string, unknown>) => {
    const folder = await mkdtemp(join(base, 'profile-'));
    await mkdir(join(folder, '1_Pooling'));
    for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), JSON.stringify(content));
    return readProfile(folder);
  };

  it('is mean pooling without prefixes where the files say nothing', async () => {
    expect(await profileOf({})).toEqual({ pooling: 'mean', passagePrefix: '', queryPrefix: '' });
  });

  it('knows that E5 wants prefixes, which its files do not say', async () => {
    const e5 = { pooling: 'mean', passagePrefix: 'passage: ', queryPrefix: 'query: ' };
    expect(await profileOf({ 'config.json': { _name_or_path: 'intfloat/multilingual-e5-small' } })).toEqual(e5);
    expect(await profileOf({ 'config.json': { _name_or_path: 'intfloat/e5-small-v2' } })).toEqual(e5);
  });

  it.each([
    [{ '1_Pooling/config.json': { pooling_mode_cls_token: true } }, 'cls'],
    [{ '1_Pooling/config.json': { pooling_mode_lasttoken: true, pooling_mode_mean_tokens: false } }, 'last'],
  ])('reads the pooling of %j', async (files, pooling) => {
    expect(await profileOf(files)).toMatchObject({ pooling });
  });

  it.each([
    [{ '1_Pooling/config.json': { pooling_mode_max_tokens: true } }, /pooling/],
    [{ '1_Pooling/config.json': { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true } }, /pooling/],
    [{ 'modules.json': [{ path: '2_Dense', type: 'sentence_transformers.models.Dense' }] }, /Dense/],
  ])('refuses %j instead of giving other vectors', async (files, message) => {
    await expect(profileOf(files)).rejects.toMatchObject({ code: 'model_unavailable', message });
  });
});
