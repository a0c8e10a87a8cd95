import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChunkingSettings, Embedder, Llm, ParsedDocument, Tokenizer } from '@sluice/core';
import { createTokenizer } from '@sluice/models';
import { createWordEmbedder, testServices, writeTinyTokenizer } from '@sluice/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { chunkDocument, STRATEGIES } from '../src/index.js';
import type { Strategy } from '../src/settings.js';
import { build, oneElement, paragraphsOf, parse } from './documents.js';
import { expectLaws } from './laws.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizers: Record<string, Tokenizer> = { fake: createFakeTokenizer() };
beforeAll(async () => {
  tokenizers.real = await createTokenizer({ folder: testServices().model });
  for (const kind of ['unigram', 'bpe'] as const) {
    const folder = await mkdtemp(join(tmpdir(), `sluice-${kind}-`));
    await writeTinyTokenizer(folder, kind);
    tokenizers[kind] = await createTokenizer({ folder });
    await rm(folder, { recursive: true });
  }
});

const embedder: Embedder = createWordEmbedder(16);

/** Answers with the passage's sentences as facts. */
const echo: Llm = {
  id: 'echo',
  async complete({ messages }) {
    const passage = messages.at(-1)?.content.split('Passage:\n')[1] ?? '';
    const facts = passage.split(/(?<=[.!?])\s+/).filter((fact) => fact.trim() !== '');
    return { text: JSON.stringify(facts), usage: { prompt_tokens: 1, completion_tokens: 1 } };
  },
  async *stream() {},
};

async function cut(document: ParsedDocument, settings: ChunkingSettings, tokenizer: Tokenizer) {
  return (await chunkDocument(document, settings, { tokenizer, embedder, llm: echo })).chunks;
}

/** Sizes that every strategy takes. */
const sizes = fc.oneof(
  fc.record({ max_tokens: fc.integer({ min: 12, max: 256 }), heading_prefix: fc.boolean() }),
  fc.record({ max_chars: fc.integer({ min: 1, max: 400 }), heading_prefix: fc.boolean() }),
);
/** Words of several scripts, marks that join, signs, white space of all kinds. */
const bit = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('kettle', 'boils', 'the', 'Dr.', 'U.S.', '3.5', 'steam.', 'now!', 'why?', 'a', 'I') },
  { weight: 6, arbitrary: fc.constantFrom(' ', ' ', ' ', '\n', '\n\n', '\n \n', '\t', '\u3000', '\u00a0', '\u2028') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '今天下雨。',
      '「はい。」',
      '한국어 문장입니다.',
      'हम घर पर हैं।',
      'هل وصلت؟',
      'วันนี้ฝนตก',
      '“好的。”',
      '） ',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '👩‍👩‍👧',
      '🇨🇿',
      '🇩🇪🇫🇷',
      'e\u0301',
      '\u0301',
      '\u200d',
      'ก็',
      '\u0600',
      '각',
      '✋🏽',
      '©️',
      'x'.repeat(150),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
);
const prose = fc.array(bit, { maxLength: 120 }).map((bits) => bits.join(''));
const word = fc.constantFrom('kettle', 'lid', 'steam', 'café', '水', '42', 'a|b', 'x'.repeat(60));
const cell = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));

const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 30 }).map((rows) => {
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  const text = [lines[0], '|---|---|---|', ...lines.slice(1)].join('\n');
  let at = 0;
  return { kind: 'table' as const, text, rows: rows.map((row) => [...row]), lines, at: at++ };
});
const code = fc.array(fc.constantFrom('def f(x):', '    return x + 1', '', 'class A:', '  y = "👩‍👩‍👧"', '}', 'z'.repeat(90)), {
  minLength: 1,
  maxLength: 40,
});
const list = fc
  .array(prose, { minLength: 1, maxLength: 12 })
  .map((items) => items.map((item) => `- ${item.replace(/\s+/g, ' ')}`));

type Part = Parameters<typeof build>[0][number];
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 5, arbitrary: prose },
  {
    weight: 2,
    arbitrary: fc
      .record({ level: fc.integer({ min: 1, max: 4 }), title: cell })
      .map(({ level, title }) => ({ kind: 'heading' as const, level, text: `${'#'.repeat(level)} ${title}` })),
  },
  { weight: 1, arbitrary: table.map(({ text, rows }) => ({ kind: 'table' as const, text, rows })) },
  { weight: 1, arbitrary: code.map((lines) => ({ kind: 'code' as const, text: lines.join('\n'), lang: 'python' })) },
  { weight: 1, arbitrary: list.map((items) => ({ kind: 'list' as const, text: items.join('\n') })) },
  { weight: 1, arbitrary: prose.map((text) => ({ kind: 'quote' as const, text, page: 3 })) },
  { weight: 1, arbitrary: fc.constantFrom('Table 1: bins', 'As follows:') },
);
const structured = fc.array(part, { maxLength: 14 }).map((parts) => build(parts.flatMap((each) => [each, '\n\n'])));
const documents = fc.oneof(prose.map(oneElement), prose.map(paragraphsOf), structured);

describe.each(STRATEGIES.map((strategy) => ({ strategy })))(
  'every chunker: $strategy',
  ({ strategy }: { strategy: Strategy }) => {
    it.each(['fake', 'real', 'unigram', 'bpe'])('keeps the laws on any document (%s tokenizer)', async (name) => {
      const tokenizer = tokenizers[name];
      if (tokenizer === undefined) throw new Error(`no tokenizer ${name}`);
      await fc.assert(
        fc.asyncProperty(documents, sizes, async (document, size) => {
          const settings = { strategy, ...size };
          const chunks = await cut(document, settings, tokenizer);
          expectLaws(document, chunks, {
            tokenizer,
            ...('max_tokens' in size ? { maxTokens: size.max_tokens } : { maxChars: size.max_chars }),
          });
          expect(await cut(document, settings, tokenizer)).toEqual(chunks);
        }),
        { numRuns: 100 },
      );
    });

    it('gives no chunk for blank text', async () => {
      for (const text of ['', '  \n\t ', '\u3000\n\n'])
        expect(await cut(oneElement(text), { strategy }, createFakeTokenizer())).toEqual([]);
    });

    it('covers all but front matter of a parsed file', async () => {
      const text =
        '---\ntitle: Kettle\n---\n\n# Care\n\nRinse it daily. Dry it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- note -->\n\n***\n\n[x]: http://y\n';
      const document = await parse(text, 'a.md');
      const tokenizer = createFakeTokenizer();
      const chunks = await cut(document, { strategy }, tokenizer);
      expectLaws(document, chunks, { tokenizer, maxTokens: 200, bodyStart: text.indexOf('# Care') });
      for (const chunk of chunks) expect(chunk.text).not.toContain('title: Kettle');
    });
  },
);

it.each(STRATEGIES)('no chunk is over what a small model takes, also where no size is set: %s', async (strategy) => {
  const small = createFakeTokenizer(48);
  await fc.assert(
    fc.asyncProperty(documents, fc.boolean(), async (document, heading_prefix) => {
      const chunks = await cut(document, { strategy, heading_prefix }, small);
      expectLaws(document, chunks, { tokenizer: small });
    }),
    { numRuns: 60 },
  );
});

describe.each(['auto', 'recursive', 'parent-document'])('overlap: %s', (strategy) => {
  it('keeps the laws, repeats only text of the chunk before, and always goes on', async () => {
    const tokenizer = createFakeTokenizer();
    const overlaps = fc.oneof(
      fc
        .integer({ min: 2, max: 120 })
        .chain((max) => fc.record({ max_chars: fc.constant(max), overlap_chars: fc.integer({ min: 0, max: max - 1 }) })),
      fc
        .integer({ min: 12, max: 120 })
        .chain((max) => fc.record({ max_tokens: fc.constant(max), overlap: fc.integer({ min: 0, max: max - 1 }) })),
    );
    await fc.assert(
      fc.asyncProperty(documents, overlaps, fc.boolean(), async (document, size, structure) => {
        const chunks = await cut(document, { strategy, structure, ...size }, tokenizer);
        expectLaws(document, chunks, {
          tokenizer,
          overlaps: true,
          ...('max_tokens' in size ? { maxTokens: size.max_tokens } : { maxChars: size.max_chars }),
        });
        const most = 'max_tokens' in size ? undefined : size.overlap_chars;
        for (const [index, chunk] of chunks.entries()) {
          const before = chunks[index - 1];
          if (before !== undefined && most !== undefined) expect(before.end - chunk.start).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: 200 },
    );
  });
});
