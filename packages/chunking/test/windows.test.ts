import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';
import { oneElement, parse } from './documents.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();

async function cut(text: string, settings: Record<string, unknown> = {}, name?: string) {
  const document = name === undefined ? oneElement(text) : await parse(text, name);
  return (await chunkDocument(document, { strategy: 'sentence-window', ...settings }, { tokenizer })).chunks;
}

describe('sentence-window', () => {
  it('gives the sentences around as they stand in the text', async () => {
    const chunks = await cut('hello. how are you? I am fine! see you.', { window: 1 });
    expect(chunks.find((chunk) => chunk.text === 'how are you?')?.window).toBe('hello. how are you? I am fine!');
  });

  it.each([
    { text: 'One is here. Two is here. Three is here. Four is here. Five is here. Six is here.', end: /(?<=\.) / },
    { text: '今天下雨。你在哪里？我在家！他走了。天黑了。雨停了。', end: /(?<=[。？！])/ },
  ])('has k sentences each side, fewer at the ends: $text', async ({ text, end }) => {
    const chunks = await cut(text, { window: 3 });
    expect(chunks).toHaveLength(6);
    const sizes = chunks.map((chunk) => chunk.window?.split(end).filter((sentence) => sentence !== '').length);
    expect(sizes).toEqual([4, 5, 6, 6, 5, 4]);
    for (const chunk of chunks) expect(text.slice(chunk.windowStart, chunk.windowEnd)).toBe(chunk.window);
  });

  it('of none is the sentence', async () => {
    for (const chunk of await cut('Ada woke. Ben ate.', { window: 0 })) expect(chunk.window).toBe(chunk.text);
  });

  it('crosses headings and paragraphs, never what is not in the text', async () => {
    const text = '# A\n\nOne here.\n\n# B\n\nTwo here. Three here.\n';
    const chunks = await cut(text, { window: 1 }, 'a.md');
    expect(chunks.map((chunk) => chunk.window)).toEqual([
      '# A\n\nOne here.\n\n# B\n\nTwo here.',
      text.trim(),
      '# B\n\nTwo here. Three here.',
    ]);
  });

  it('tells which sentence the parts of a long one belong to', async () => {
    const long = `It lists ${Array.from({ length: 120 }, (_, index) => `thing${index}`).join(' ')}.`;
    const chunks = await cut(`Short one. ${long} Last one.`, { max_tokens: 40, window: 1 });
    const parts = chunks.filter((chunk) => chunk.sentenceIndex === 1);
    expect(parts.length).toBeGreaterThan(3);
    for (const part of parts) {
      expect(part.originalSentence).toBe(long);
      expect(part.window).toBe(`Short one. ${long} Last one.`);
    }
    expect(chunks.at(-1)).toMatchObject({ sentenceIndex: 2, originalSentence: 'Last one.' });
  });
});

describe('parent-document', () => {
  const sentence = (name: string) => `The ${name} is filled, rinsed, dried and put back on its base each day. `;
  const families = async (text: string, settings: Record<string, unknown> = {}) => {
    const document = await parse(text, 'a.md');
    const { chunks } = await chunkDocument(
      document,
      { strategy: 'parent-document', max_tokens: 40, parent_tokens: 120, ...settings },
      { tokenizer },
    );
    for (const chunk of chunks) {
      expect(chunk.parentStart).toBeLessThanOrEqual(chunk.start);
      expect(chunk.parentEnd).toBeGreaterThanOrEqual(chunk.end);
    }
    const parents = new Map(chunks.map((chunk) => [chunk.parentId, document.text.slice(chunk.parentStart, chunk.parentEnd)]));
    return { chunks, parents: [...parents.values()] };
  };

  it('makes a heading with all below it a parent where it fits, each stored once', async () => {
    const { chunks, parents } = await families(
      `# A\n\n${sentence('kettle')}\n\n## A1\n\n${sentence('lid')}\n\n# B\n\n${sentence('pan')}${sentence('pot')}`,
    );
    expect(parents).toHaveLength(2);
    expect(parents[0]).toMatch(/^# A[\s\S]*lid[\s\S]*day\.$/);
    expect(parents[1]).toMatch(/^# B[\s\S]*pot/);
    expect(chunks.length).toBeGreaterThan(2);
  });

  it('makes the sections below it parents where it does not', async () => {
    const { parents } = await families(
      `# A\n\n${sentence('kettle').repeat(2)}\n\n## A1\n\n${sentence('lid').repeat(3)}\n\n## A2\n\n${sentence('pan').repeat(3)}`,
    );
    expect(parents.map((parent) => parent.split('\n')[0])).toEqual(['# A', '## A1', '## A2']);
  });

  it('parts a section that is over the size between its chunks', async () => {
    const paragraphs = Array.from({ length: 20 }, (_, index) => sentence(`kettle number ${index}`)).join('\n\n');
    const { parents } = await families(`# A\n\n${paragraphs}`);
    expect(parents.length).toBeGreaterThan(3);
    for (const parent of parents) expect(tokenizer.count(parent)).toBeLessThanOrEqual(122);
  });
});
