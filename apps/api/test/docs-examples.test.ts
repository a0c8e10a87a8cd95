import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Llm } from '@sluice/core';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWorld, type World } from './world.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

interface Example {
  url: string;
  body: Record<string, unknown>;
  answer: Record<string, unknown> | undefined;
}

/** Requests of a page (`json POST /...`), each with the answer that the page shows below it. */
function examplesOf(text: string): Example[] {
  const examples: Example[] = [];
  for (const [, info = '', code = ''] of text.matchAll(/^```json (\S.*)\n([\s\S]*?)^```$/gm)) {
    const last = examples.at(-1);
    if (info.startsWith('POST ')) examples.push({ url: info.slice(5), body: JSON.parse(code), answer: undefined });
    else if (info === 'answer' && last !== undefined) last.answer = JSON.parse(code);
  }
  return examples;
}

/** Documents of a page by their path: texts, or texts with metadata. */
function documentsOf(text: string): [path: string, document: { text: string; metadata?: Record<string, unknown> }][] {
  const block = /^```yaml documents\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '{}';
  const documents = parse(block) as Record<string, string | ({ text: string } & Record<string, unknown>)>;
  return Object.entries(documents).map(([path, given]) => {
    if (typeof given === 'string') return [path, { text: given }];
    const { text: content, ...metadata } = given;
    return [path, { text: content, metadata }];
  });
}

const pages = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(DOCS + name, 'utf8') }))
  .filter(({ text }) => examplesOf(text).length > 0);

/** Gives the answer that the pages show. */
const scripted: Llm = {
  id: 'scripted',
  complete: async () => ({
    text: 'The sunshield has five layers [1].',
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  }),
  stream: () => {
    throw new Error('no page shows a stream');
  },
};

describe.each(pages)('examples of docs/$name', ({ text }) => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it('answer what the page shows', async () => {
    world = await createWorld({}, { llm: scripted });
    for (const [path, { text: content, ...document }] of documentsOf(text)) {
      await world.put({ ...document, docId: `inbox/${path}`, text: content.trimEnd() });
    }
    for (const { url, body, answer } of examplesOf(text)) {
      const response = await world.app.inject({ method: 'POST', url, payload: body });
      expect(response.statusCode, `${url} ${JSON.stringify(body)}: ${response.body}`).toBe(200);
      if (answer !== undefined) expect(response.json()).toMatchObject(answer);
    }
  });
});

it('finds pages with examples', () => {
  expect(pages.map(({ name }) => name)).toEqual(expect.arrayContaining(['answers.md', 'search.md']));
});
