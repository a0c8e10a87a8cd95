import type { Chunk, ChunkingSettings, Embedder } from '@sluice/core';
import { createTokenizer } from '@sluice/models';
import { createWordEmbedder, testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';
import { oneElement, parse } from './documents.js';
import { expectLaws } from './laws.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();

async function cut(text: string, settings: ChunkingSettings, name = 'a.txt'): Promise<Chunk[]> {
  return (await chunkDocument(await parse(text, name), settings, { tokenizer, embedder: createWordEmbedder() })).chunks;
}

const textsOf = (chunks: readonly Chunk[]) => chunks.map((chunk) => chunk.text);

describe('graphemes', () => {
  const text = 'ab😀cd👩‍👩‍👧éf🇨🇿';
  const graphemes = ['a', 'b', '😀', 'c', 'd', '👩‍👩‍👧', 'é', 'f', '🇨🇿'];

  it.each([true, false])('are never parted, whatever the size and the overlap (structure: %s)', async (structure) => {
    for (let max = 1; max <= 8; max++) {
      for (let overlap = 0; overlap < max; overlap++) {
        const chunks = await cut(text, { strategy: 'recursive', max_chars: max, overlap_chars: overlap, structure });
        for (const chunk of chunks) {
          expect(chunk.text).not.toMatch(/^[\u200d\p{M}\udc00-\udfff]/u);
          if (chunk.text.length > max) expect(graphemes).toContain(chunk.text);
        }
        expectLaws(oneElement(text), chunks, { tokenizer, overlaps: true, maxChars: max });
        if (overlap === 0) expect(textsOf(chunks).join('')).toBe(text);
      }
    }
  });

  it('of scripts without spaces stay whole too', async () => {
    const thai = 'วันนี้ฝนตก เราอยู่บ้าน พรุ่งนี้จะไปตลาด '.repeat(40).trim();
    const chunks = await cut(thai, { strategy: 'recursive', max_chars: 120 });
    expect(chunks.length).toBeGreaterThanOrEqual(13);
    expectLaws(oneElement(thai), chunks, { tokenizer, maxChars: 120 });
    for (const chunk of chunks) expect(chunk.text).not.toMatch(/^[\u0E31\u0E34-\u0E3A\u0E47-\u0E4E]/);
  });

  it('and words that fit are whole, in scripts without spaces as the dictionary has them', async () => {
    const chunks = await cut('เราอยู่บ้านพรุ่งนี้จะไปตลาด'.repeat(20), { strategy: 'recursive', max_chars: 60 });
    for (const chunk of chunks) expect(chunk.text).toMatch(/^(?:เรา|อยู่|บ้าน|พรุ่งนี้|จะ|ไป|ตลาด)/);
    const english = await cut('kettles whistle loudly '.repeat(50), { strategy: 'recursive', max_chars: 30 });
    for (const chunk of english) expect(chunk.text).toMatch(/^(?:(?:kettles|whistle|loudly)(?: |$))+$/);
  });
});

describe('overlap', () => {
  it('is not lost where a piece fills the size', async () => {
    const chunks = await cut('QQQQQQQQQQQQQQQQQQQQQQQ\n\nZZZZZZZZZ', { strategy: 'recursive', max_chars: 28, overlap_chars: 8 });
    expect(chunks).toHaveLength(2);
    const [first, second] = chunks;
    const shared = (first?.end ?? 0) - (second?.start ?? 0);
    expect(shared).toBeGreaterThanOrEqual(1);
    expect(shared).toBeLessThanOrEqual(8);
  });

  it('is exact where nothing parts the text', async () => {
    for (const separators of [[], undefined]) {
      const settings = {
        strategy: 'recursive',
        max_chars: 5,
        overlap_chars: 2,
        ...(separators === undefined ? {} : { separators }),
      };
      expect(textsOf(await cut('klmnopqrst', settings))).toEqual(['klmno', 'nopqr', 'qrst']);
    }
  });

  it('in tokens begins with a word and is no longer than asked for', async () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    const chunks = await cut(text, { strategy: 'recursive', max_tokens: 40, overlap: 9 });
    for (const [index, chunk] of chunks.entries()) {
      const before = chunks[index - 1];
      if (before === undefined) continue;
      const shared = text.slice(chunk.start, before.end);
      expect(shared).toMatch(/^word\d+(?: word\d+)*$/);
      const pieces = tokenizer.count(shared) - 2;
      expect(pieces).toBeLessThanOrEqual(9);
      expect(pieces).toBeGreaterThanOrEqual(8);
    }
  });

  it('is applied once: each chunk is text of the source, and none lies within the one before', async () => {
    const text =
      'Feed\nThe hopper drops grain once the mill is clean and dry.\n\nHusk\nA fan parts husk from kernel. Dust leaves at the top.\n\nStop\nLet it run down before you open the hatch.';
    for (const separators of [['\n\n', '\n', '. ', ' '], undefined]) {
      const settings = {
        strategy: 'recursive',
        max_chars: 48,
        overlap_chars: 9,
        ...(separators === undefined ? {} : { separators }),
      };
      const chunks = await cut(text, settings);
      expectLaws(oneElement(text), chunks, { tokenizer, overlaps: true, maxChars: 48 });
      expect(chunks.length).toBeGreaterThan(3);
    }
  });

  it('ends at headings, tables and code, where it would repeat what does not belong there', async () => {
    const text = '# One\n\nThe kettle boils water quickly.\n\n# Two\n\nThe pan fries eggs slowly.\n\n```\ncode here\n```\n';
    const chunks = await cut(text, { strategy: 'recursive', max_tokens: 30, overlap: 10 }, 'a.md');
    for (const [index, chunk] of chunks.entries()) {
      expect(chunk.start).toBeGreaterThanOrEqual(chunks[index - 1]?.end ?? 0);
    }
  });
});

describe('headings', () => {
  it('are none within fences', async () => {
    const text =
      '# Setup\n\n````md\n```sh\n# not one\n```\n# not two\n````\n\n~~~py\n# not three\n~~~ruby\n# not four\n~~~~\n\n   ```\n   # not five\n   ```\n\n    # not six\n\n## Run\n\n```js\n# not seven, never closed';
    const document = await parse(text, 'a.md');
    expect(document.elements.filter((element) => element.kind === 'heading').map(({ level, title }) => [level, title])).toEqual([
      [1, 'Setup'],
      [2, 'Run'],
    ]);
    const chunks = await cut(text, { strategy: 'auto' }, 'a.md');
    expect(new Set(chunks.map((chunk) => chunk.headingPath.join('/')))).toEqual(new Set(['Setup', 'Setup/Run']));
  });

  it.each(['auto', 'recursive', 'sentence-window', 'semantic', 'parent-document'])(
    'make the path of each body: %s',
    async (strategy) => {
      const text = 'pre\n\n# A\n\na0\n\n## B\n\nb0\n\n### C\n\nc0\n\n## D\n\nd0\n\n# E\n\n#### Z\n\nz0\n\n## Y\n\ny0\n';
      const chunks = await cut(text, { strategy }, 'a.md');
      const paths = Object.fromEntries(chunks.map((chunk) => [chunk.text.split('\n').at(-1), chunk.headingPath]));
      expect(paths).toEqual({
        pre: [],
        a0: ['A'],
        b0: ['A', 'B'],
        c0: ['A', 'B', 'C'],
        d0: ['A', 'D'],
        z0: ['E', 'Z'],
        y0: ['E', 'Y'],
      });
    },
  );

  it('stay with their text, also where it must be cut', async () => {
    const body = 'The kettle boils water quickly and then it stops by itself. '.repeat(20);
    for (const strategy of ['auto', 'recursive', 'sentence-window', 'semantic', 'parent-document']) {
      const chunks = await cut(`# Care\n\n## Daily\n\n${body}`, { strategy, max_tokens: 40 }, 'a.md');
      expect(chunks[0]?.text).toMatch(/^# Care\n\n## Daily\n\nThe kettle/);
      expect(chunks.length).toBeGreaterThan(5);
      for (const chunk of chunks.slice(1)) expect(chunk.embeddingText).toBe(`Care > Daily\n\n${chunk.text}`);
    }
  });
});

describe('tables', () => {
  const rows = Array.from({ length: 12 }, (_, index) => `| k${index} | value number ${index} a\\|b |`);
  const text = `## Stock\n\nTable 1: bins\n\n| key | note |\n|-----|------|\n${rows.join('\n')}\n`;

  it.each([
    { strategy: 'auto', max_chars: 120 },
    { strategy: 'recursive', max_chars: 120 },
    { strategy: 'auto', max_tokens: 60 },
    { strategy: 'recursive', max_tokens: 60 },
    { strategy: 'sentence-window', max_chars: 120 },
    { strategy: 'semantic', max_chars: 120 },
    { strategy: 'parent-document', max_chars: 120 },
  ])('keep header, rows and caption together: %o', async (settings) => {
    const chunks = await cut(text, settings, 'a.md');
    expect(chunks.length).toBeGreaterThan(2);
    for (const [index, chunk] of chunks.entries()) {
      expect(chunk.headingPath).toEqual(['Stock']);
      expect(chunk.text.split('| key | note |\n|-----|------|\n| k')).toHaveLength(2);
      expect(chunk.text.split('|-----|------|')).toHaveLength(2);
      expect(chunk.text.includes('Table 1: bins')).toBe(index === 0);
      if ('max_chars' in settings) expect(chunk.text.length).toBeLessThanOrEqual(settings.max_chars ?? 0);
    }
    for (const row of rows) expect(chunks.filter((chunk) => chunk.text.split('\n').includes(row))).toHaveLength(1);
  });
});

describe('semantic', () => {
  it('takes tiny input', async () => {
    const embedder = createWordEmbedder();
    const results = [];
    for (const text of ['', '  \n\t ', 'One sentence only.', '....', 'A. B.']) {
      const { chunks } = await chunkDocument(oneElement(text), { strategy: 'semantic' }, { tokenizer, embedder });
      results.push(textsOf(chunks));
    }
    expect(results.slice(0, 4)).toEqual([[], [], ['One sentence only.'], ['....']]);
    expect(results[4]?.join(' ')).toBe('A. B.');
  });

  it('embeds nothing of a blank document', async () => {
    const embedder = createWordEmbedder();
    await chunkDocument(oneElement(' \n '), { strategy: 'semantic' }, { tokenizer, embedder });
    expect(embedder.embedded).toEqual([]);
  });

  it('has an upper limit where no break shows', async () => {
    const text = Array.from(
      { length: 200 },
      (_, n) => `Item: bin-${String(n).padStart(3, '0')}\nShelf: ${(n * 7) % 97}\nKind: crate\n\n`,
    ).join('');
    const flat: Embedder = { ...createWordEmbedder(), embed: async (texts) => texts.map(() => new Float32Array([1, 0])) };
    const real = await createTokenizer({ folder: testServices().model });
    for (const document of [oneElement(text), await parse(text, 'a.txt')]) {
      const { chunks } = await chunkDocument(
        document,
        { strategy: 'semantic', max_tokens: 256 },
        { tokenizer: real, embedder: flat },
      );
      expectLaws(document, chunks, { tokenizer: real, maxTokens: 256 });
      for (let n = 0; n < 200; n++) {
        const name = `bin-${String(n).padStart(3, '0')}`;
        expect(chunks.filter((chunk) => chunk.text.includes(name))).toHaveLength(1);
      }
    }
  });
});

describe('sentence-window', () => {
  it('embeds the sentence, with the window beside it, within its document', async () => {
    const first = await cut('Ada woke. Ben ate. Cy ran. Di sang. Ed slept.', { strategy: 'sentence-window', window: 1 });
    expect(first.map(({ text, window }) => ({ s: text, w: window }))).toEqual([
      { s: 'Ada woke.', w: 'Ada woke. Ben ate.' },
      { s: 'Ben ate.', w: 'Ada woke. Ben ate. Cy ran.' },
      { s: 'Cy ran.', w: 'Ben ate. Cy ran. Di sang.' },
      { s: 'Di sang.', w: 'Cy ran. Di sang. Ed slept.' },
      { s: 'Ed slept.', w: 'Di sang. Ed slept.' },
    ]);
    for (const chunk of first) expect(chunk.embeddingText).toBeUndefined();
    const second = await cut('Zoe left.', { strategy: 'sentence-window', window: 1 });
    expect(second.map(({ text, window }) => ({ s: text, w: window }))).toEqual([{ s: 'Zoe left.', w: 'Zoe left.' }]);
  });
});

describe('parent-document', () => {
  it('gives equal passages of different documents, and of one document, ids of their own', async () => {
    const shared = 'Badge codes are rotated every Monday.';
    const cutFor = async (docId: string, text: string) =>
      (await chunkDocument(await parse(text, 'a.md'), { strategy: 'parent-document' }, { tokenizer, docId })).chunks;
    const open = await cutFor('docs/public.md', shared);
    const secret = await cutFor('docs/secret.md', `${shared}\n\nCode is 9911.`);
    const ids = new Set([...open, ...secret].map((chunk) => chunk.parentId));
    expect(ids.size).toBe(2);
    const { chunks: twice } = await chunkDocument(
      await parse(`${shared}\n\nBetween them stands one passage of another kind.\n\n${shared}`, 'a.md'),
      { strategy: 'parent-document', max_tokens: 16, parent_tokens: 16 },
      { tokenizer },
    );
    const equal = twice.filter((chunk) => chunk.text === shared);
    expect(equal).toHaveLength(2);
    expect(equal[0]?.parentId).not.toBe(equal[1]?.parentId);
  });
});
