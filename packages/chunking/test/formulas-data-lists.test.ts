import type { Chunk, ChunkingSettings } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';
import { parse } from './documents.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();

async function cut(text: string, settings: Partial<ChunkingSettings>, name = 'a.md'): Promise<Chunk[]> {
  return (await chunkDocument(await parse(text, name), { strategy: 'auto', ...settings }, { tokenizer })).chunks;
}

const FORMULAS = [
  '$$\n\\frac{100.5 X}{X + Y}. \\tag{C.1}\n\\\\ Y = 3.2 X! + 4.7 Z?\n$$',
  '\\[\na = b. C = d? E = f!\n\\]',
  '\\begin{align}\na &= 1. \\\\\nB &= 2.\n\\end{align}',
];

describe('display formulas', () => {
  it.each(FORMULAS)('are whole, whatever marks they hold: %s', async (formula) => {
    const prose = (n: number) => Array.from({ length: n }, (_, index) => `The reading number ${index} is taken twice.`).join(' ');
    const text = `# Gas\n\n${prose(5)}\n\n${formula}\n\n${prose(6)}\n\nAs in\n${formula}\nwhere X is known.\n`;
    for (const settings of [{ max_tokens: 60 }, { strategy: 'sentence-window', window: 0, max_tokens: 60 }]) {
      const chunks = await cut(text, settings);
      expect(chunks.filter((chunk) => chunk.text.includes(formula))).toHaveLength(2);
    }
  });

  it('are none without their end, or within a line', async () => {
    const text = 'The process is $$. It ends. The cost is $$5 and $$6. It is low.';
    const chunks = await cut(text, { strategy: 'sentence-window', window: 0 }, 'a.txt');
    expect(chunks.map((chunk) => chunk.text)).toEqual([
      'The process is $$.',
      'It ends.',
      'The cost is $$5 and $$6.',
      'It is low.',
    ]);
  });
});

describe('data addresses', () => {
  const payload = 'iVBORw0KGgo'.repeat(2_000);
  it.each([
    ['a paragraph', `Before it.\n\n![curve](data:image/png;base64,${payload})\n\nBehind it.\n`],
    ['a sentence', `Before it ![curve](data:image/png;name=a.png;base64,${payload}) and behind it.\n`],
    ['a table', `| a | b |\n|---|---|\n| Before it | ![x](data:image/png;base64,${payload}) |\n| Behind it | y |\n`],
    ['a list', `- Before it ![x](data:image/png;base64,${payload})\n- Behind it\n`],
  ])('are in no chunk: of %s', async (_, text) => {
    for (const name of ['a.md', 'a.txt']) {
      const chunks = await cut(text, {}, name);
      const all = chunks.map((chunk) => `${chunk.text}\n${chunk.embeddingText ?? ''}`).join('\n');
      expect(all).not.toContain('iVBORw0KGgo');
      expect(all).toContain('Before it');
      expect(all.toLowerCase()).toContain('behind it');
      expect(chunks.length).toBeLessThan(5);
    }
  });

  it('that are short, or named only, stay', async () => {
    const text = 'Use data:image/png;base64,AAAA in the page; base64 is long.';
    expect((await cut(text, {})).map((chunk) => chunk.text)).toEqual([text]);
  });
});

it('keeps items with their nested ones, and names the items around those that are parted from them', async () => {
  const steps = (name: string) =>
    [1, 2, 3].map((step) => `    - step ${step} for the ${name}: rub it with a soft cloth and warm water\n`).join('');
  const text = `Intro:\n\n${['kettle', 'spout', 'lid'].map((name) => `- care of the ${name}\n  - daily ${name} tasks\n${steps(name)}`).join('')}`;
  const chunks = await cut(text, { max_tokens: 60 });
  expect(chunks.length).toBeGreaterThan(3);
  for (const chunk of chunks) {
    const embedded = chunk.embeddingText ?? chunk.text;
    for (const [, name] of chunk.text.matchAll(/step \d for the (\w+)/g)) {
      expect(embedded).toContain(`care of the ${name}`);
      expect(embedded).toContain(`daily ${name} tasks`);
    }
  }
});
