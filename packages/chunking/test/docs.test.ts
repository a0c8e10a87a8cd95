import { readFile } from 'node:fs/promises';
import type { Chunk, Llm } from '@sluice/core';
import { createEmbedder, createTokenizer } from '@sluice/models';
import { testServices } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { chunkDocument, STRATEGIES } from '../src/index.js';
import { parse } from './documents.js';

const PAGE = new URL('../../../docs/chunking.md', import.meta.url);
const SETTINGS: Record<string, Record<string, unknown>> = {
  'sentence-window': { window: 1 },
  'parent-document': { max_tokens: 30, parent_tokens: 60 },
};

/** What a model might answer to the page's passages. */
const llm: Llm = {
  id: 'example',
  async complete({ messages }) {
    const passage = messages.at(-1)?.content ?? '';
    const facts = passage.includes('Press the switch')
      ? ['The kettle is filled with water.', 'The switch of the kettle is pressed.', 'The kettle boils in three minutes.']
      : ['The kettle is descaled once a month.', 'Vinegar costs 9 euros.', 'Vinegar is used, e.g. 100 ml in a full kettle.'];
    return { text: JSON.stringify(facts), usage: { prompt_tokens: 0, completion_tokens: 0 } };
  },
  async *stream() {},
};

function show(chunks: readonly Chunk[]): string {
  const shown = chunks.map((chunk) => {
    const lines = [`--- ${chunk.index}: ${chunk.kind}, ${chunk.start}-${chunk.end}, ${chunk.tokens} word pieces`, chunk.text];
    if (chunk.embeddingText !== undefined) lines.push('embedded:', chunk.embeddingText);
    if (chunk.window !== undefined) lines.push(`window: ${chunk.windowStart}-${chunk.windowEnd}`);
    if (chunk.parentId !== undefined) lines.push(`parent: ${chunk.parentStart}-${chunk.parentEnd}`);
    return lines.join('\n');
  });
  return `\`\`\`text\n${shown.join('\n')}\n\`\`\``;
}

it('the page of the docs shows what the strategies make of it', async () => {
  const docs = await readFile(PAGE, 'utf8');
  const section = (name: string) => docs.split(`<!-- ${name} -->\n`)[1]?.split('<!-- end -->')[0]?.trim();
  const page = section('page')?.replace(/^```markdown\n|\n```$/g, '') ?? '';
  const folder = testServices().model;
  const tokenizer = await createTokenizer({ folder });
  const embedder = await createEmbedder({ folder, threads: 1 });
  try {
    const document = await parse(`${page}\n`, 'kettle.md');
    for (const strategy of STRATEGIES) {
      const { chunks } = await chunkDocument(document, { strategy, ...SETTINGS[strategy] }, { tokenizer, embedder, llm });
      expect(section(strategy), `docs/chunking.md, ${strategy}`).toBe(show(chunks));
    }
  } finally {
    await embedder.close();
  }
});
