import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { testServices } from '@sluice/testkit';
import { AutoTokenizer, env } from '@xenova/transformers';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTokenizer, type ModelTokenizer } from './tokenizer.js';

const folder = testServices().model;
let ours: ModelTokenizer;
let library: (text: string) => number[];

beforeAll(async () => {
  ours = await createTokenizer({ folder });
  env.allowRemoteModels = false;
  env.localModelPath = dirname(dirname(folder));
  const tokenizer = await AutoTokenizer.from_pretrained(folder.split('/').slice(-2).join('/'));
  library = (text) => tokenizer.encode(text);
});

/** Characters that each take another way through normalisation. */
const CHARACTERS = [
  ...'abcABC012 ,.!?-_\'"#[]()$+<>`~\t\n\r\u0001\u000b\u0085\u00a0',
  ...'éÉüñçÅßøŁİıΣςσΑΟΐϋΰ',
  ...'e\u0301o\u0308\u0323\u0345\u093c\u0591\u05b0\u0653\u064b',
  ...'中文文字𠀀𠮷豈﨑一龥㐀。、「」！？ー',
  ...'ひらがなカタカナガパｶﾞ한국어각힣',
  ...'हिन्दी कक़ العربيةﷺ ไทยกำ',
  ...'😀👩‍👩‍👧🇩🇪☃️',
  ...'\u200b\u200d\ufeff\u202e\ufffd\ue000\u00ad\u2028\u3000\u2003\u1680\u180e\u212a\u1e9e\ufb01\u2126\u00b5\u01c5',
  '\ud800',
  '\udc00',
  '[SEP]',
  '[CLS]',
  '[MASK]',
  '[UNK]',
  '[PAD]',
];
const WORDS = [
  'The',
  'telescope',
  'embeddings',
  'naïve',
  'Übermaß',
  'tokenization',
  'ΟΔΟΣ',
  "ΑΣ'Α",
  'don’t',
  'v2.17.2',
  '東京都',
  '한국어',
  'x'.repeat(101),
];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...CHARACTERS), fc.constantFrom(...WORDS), fc.string({ unit: 'binary', maxLength: 8 })), {
    maxLength: 30,
  })
  .map((parts) => parts.join(''));

describe('createTokenizer', () => {
  it('gives the pieces of the library on thousands of random texts', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect([...ours.encode(text)]).toEqual(library(text));
      }),
      { numRuns: 6000 },
    );
  });

  it('gives the pieces of the library for every code point', () => {
    const wrong: string[] = [];
    for (let from = 0; from < 0x110000; from += 64) {
      // Unassigned planes take the same way as every other character; a part of them is enough.
      if (from > 0x33000 && from < 0xe0000) continue;
      const points = Array.from({ length: 64 }, (_, index) => from + index);
      const text = points.map((point) => `a${String.fromCodePoint(point)}B ${String.fromCodePoint(point)}`).join(' ');
      if (ours.encode(text).join() !== library(text).join()) wrong.push(from.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('counts what it encodes, with ordered offsets inside the text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const offsets = ours.offsets(text);
        expect(ours.count(text)).toBe(offsets.length + ours.specialTokens);
        expect(ours.encode(text).length).toBe(offsets.length + 2);
        let { start, end } = { start: 0, end: 0 };
        for (const piece of offsets) {
          expect(piece.start).toBeGreaterThanOrEqual(start);
          expect(piece.end).toBeGreaterThanOrEqual(end);
          expect(piece.end).toBeGreaterThan(piece.start);
          ({ start, end } = piece);
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['Hello World', ['Hello', 'World']],
    ['NAÏVE cafe\u0301!', ['NAÏVE', 'cafe\u0301', '!']],
    ['a\u200bb 東京。', ['a\u200bb', '東', '京', '。']],
    ['İİstanbulx', ['İİ', 'stan', 'bu', 'l', 'x']],
    ['x [SEP] y', ['x', '[SEP]', 'y']],
    ['𠮷野家', ['𠮷', '野', '家']],
    ['embeddings', ['em', 'bed', 'ding', 's']],
  ])('points at the original characters of %j', (text, expected) => {
    expect(ours.offsets(text).map(({ start, end }) => text.slice(start, end))).toEqual(expected);
  });

  it('never cuts, and knows that MiniLM takes 256', () => {
    expect(ours.maxTokens).toBe(256);
    expect(ours.count('word '.repeat(5000))).toBe(5002);
    expect(ours.count('')).toBe(2);
    expect(ours.offsets('')).toEqual([]);
  });

  it('makes the pair a cross-encoder reads', () => {
    const { ids, types } = ours.encodePair(ours.pieces('why'), ours.pieces('so what'));
    expect([...ids]).toEqual([101, ...ours.pieces('why'), 102, ...ours.pieces('so what'), 102]);
    expect([...types]).toEqual([0, 0, 0, 1, 1, 1]);
    expect(ours.pairSpecialTokens).toBe(3);
  });

  it('says what is wrong with a folder that holds no model', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'sluice-model-'));
    try {
      await expect(createTokenizer({ folder: empty })).rejects.toMatchObject({ code: 'model_unavailable' });
      await writeFile(join(empty, 'tokenizer.json'), '{"model":{"type":"BPE"}}');
      await expect(createTokenizer({ folder: empty })).rejects.toMatchObject({
        code: 'model_unavailable',
        message: /known kind/,
      });
    } finally {
      await rm(empty, { recursive: true });
    }
  });
});
