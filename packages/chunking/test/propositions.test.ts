import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Llm } from '@sluice/core';
import { createLlm } from '@sluice/llm';
import { TELESCOPE } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { chunkDocument, chunkerIdentity, createFactCache } from '../src/index.js';
import { checkFact } from '../src/propositions/check-fact.js';
import { readFacts } from '../src/propositions/read-facts.js';
import { oneElement, parse } from './documents.js';
import { expectLaws } from './laws.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();
const { passage: PASSAGE, trueFacts: TRUE_FACTS, falseFact: FALSE_FACT } = TELESCOPE;

/** A model that answers with what the test says, and remembers what it was asked. */
function createScriptedLlm(answer: (passage: string) => string): Llm & { asked: string[]; most: number } {
  let running = 0;
  const llm = {
    id: 'scripted',
    asked: [] as string[],
    most: 0,
    async complete({ messages }: Parameters<Llm['complete']>[0]) {
      const passage = messages.at(-1)?.content.split('Passage:\n')[1] ?? '';
      llm.asked.push(messages.map((message) => message.content).join('\n'));
      running++;
      llm.most = Math.max(llm.most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { text: answer(passage), usage: { prompt_tokens: 10, completion_tokens: 2 } };
    },
    async *stream() {},
  };
  return llm;
}

it('keeps the facts a passage bears out, and drops the others where a human can see them', async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const content = JSON.stringify([...TRUE_FACTS.slice(0, 3), FALSE_FACT, ...TRUE_FACTS.slice(3)]);
      response.end(JSON.stringify({ choices: [{ message: { content } }], usage: { prompt_tokens: 90, completion_tokens: 80 } }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    // Sound: a server that listens on a port has an address of this shape.
    const { port } = server.address() as AddressInfo;
    const llm = createLlm({ baseUrl: `http://127.0.0.1:${port}/v1`, model: 'small' });
    const document = await parse(`# Telescope\n\n${PASSAGE}\n`, 'a.md');
    const { chunks, dropped, usage } = await chunkDocument(document, { strategy: 'propositions' }, { tokenizer, llm });
    expect(chunks.map((chunk) => chunk.text)).toEqual(TRUE_FACTS);
    expectLaws(document, chunks, { tokenizer, maxTokens: 200 });
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ derived: true, headingPath: ['Telescope'], embeddingText: `Telescope\n\n${chunk.text}` });
      expect(document.text.slice(chunk.start, chunk.end)).toContain(PASSAGE);
    }
    expect(dropped).toMatchObject([{ text: FALSE_FACT, start: 0, end: document.text.trimEnd().length }]);
    expect(dropped[0]?.reason).toMatch(/not_in_passage: (?:Roscosmos|1999)/);
    expect(usage).toEqual({ calls: 1, cached: 0, prompt_tokens: 90, completion_tokens: 80 });
  } finally {
    await new Promise((closed) => server.close(closed));
  }
});

describe('a fact is checked for', () => {
  it.each([
    ['numbers', 'The sunshield has six layers.', 'number_not_in_passage'],
    ['numbers', 'Webb is 2.5 million kilometres from Earth.', 'number_not_in_passage'],
    ['dates', 'Webb was launched in November.', 'date_not_in_passage'],
    ['names', 'The telescope was launched from Florida.', 'name_not_in_passage'],
    ['names at the start', 'Hubble orbits the Sun near L2.', 'name_not_in_passage'],
    ['names with digits', 'The telescope orbits near L4.', 'number_not_in_passage'],
    ['other words', 'Cheese sandwiches taste wonderful everywhere.', 'name_not_in_passage'],
    ['other words', 'The sun can damage unprotected human skin badly during summer.', 'words_not_in_passage'],
  ])('%s: %s', (_, fact, reason) => {
    expect(checkFact(fact, PASSAGE)?.reason).toBe(reason);
  });

  it.each([
    ['The sunshield has 5 layers.', PASSAGE],
    ['Webb launched on December 25, 2021.', PASSAGE],
    ['Profit was 1,200 euros.', 'The profit (in euros) was 1200.'],
    ['Profit was 1200.50 euros.', 'Profits of 1.200,50 euros were made.'],
    ['The fair opens in March 2024.', 'The fair opens on 2024-03-05.'],
    ['The kettles were recalled.', 'A kettle is recalled.'],
    ['Le 3 mars, Élodie arrive.', 'Élodie arrive le 3 mars.'],
    ['价格是3.5元。', '今天的价格是3.5元。'],
  ])('what means the same is let through: %s', (fact, passage) => {
    expect(checkFact(fact, passage)).toBeUndefined();
  });
});

it.each([
  ['["A is b.", "C is d."]', ['A is b.', 'C is d.']],
  ['```json\n["A is b."]\n```', ['A is b.']],
  ['Here you are:\n{"facts": ["A is b.", "A is b."]}', ['A is b.']],
  ['[{"fact": "A is b."}]', ['A is b.']],
  ['- A is b.\n- C is d.', ['A is b.', 'C is d.']],
  ['The facts:\n1. A is b.\n2. C is d.', ['A is b.', 'C is d.']],
  ['<think>[1, 2]</think>["A is b."]', ['A is b.']],
  ['[]', []],
  ['["A is b.", "C is', undefined],
  ['', undefined],
])('reads what models answer: %s', (reply, facts) => {
  expect(readFacts(reply)).toEqual(facts);
});

describe('the language model', () => {
  const paragraphs = Array.from({ length: 12 }, (_, index) => `Kettle ${index} ${'boils water quickly and quietly '.repeat(8)}.`);
  const echo = (passage: string) => JSON.stringify(passage.split('\n\n'));

  it('is asked with bounded concurrency, once a passage, and for changed passages only', async () => {
    const llm = createScriptedLlm(echo);
    const facts = createFactCache();
    const settings = { strategy: 'propositions', concurrency: 3, passage_tokens: 80 };
    const first = await chunkDocument(oneElement(paragraphs.join('\n\n')), settings, { tokenizer, llm, facts });
    expect(first.usage?.calls).toBe(12);
    expect(llm.most).toBe(3);
    const edited = paragraphs.with(5, `Kettle 5 ${'is old '.repeat(20)}.`);
    const second = await chunkDocument(oneElement(edited.join('\n\n')), settings, { tokenizer, llm, facts });
    expect(second.usage).toMatchObject({ calls: 1, cached: 11 });
    expect(second.chunks.map((chunk) => chunk.start)).toEqual(
      second.chunks.map((chunk) => chunk.start).toSorted((a, b) => a - b),
    );
  });

  it('is not asked about code, tables or blank text; a passage without facts is embedded as it stands', async () => {
    const llm = createScriptedLlm(() => '[]');
    const text = 'Some words of prose.\n\n```\ncode()\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';
    const document = await parse(text, 'a.md');
    const { chunks } = await chunkDocument(document, { strategy: 'propositions' }, { tokenizer, llm });
    expect(llm.asked).toHaveLength(1);
    expectLaws(document, chunks, { tokenizer });
    expect(chunks[0]).toMatchObject({ derived: false, text: 'Some words of prose.' });
  });

  it('is given the prompt of the source, which is part of its identity', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-prompt-'));
    try {
      const prompt_file = join(folder, 'prompt.txt');
      await writeFile(prompt_file, 'Write facts in Latin.');
      const llm = createScriptedLlm(echo);
      const settings = { strategy: 'propositions', prompt_file };
      await chunkDocument(oneElement('Kettles boil.'), settings, { tokenizer, llm });
      expect(llm.asked[0]).toContain('Write facts in Latin.');
      const before = chunkerIdentity(settings, llm);
      await writeFile(prompt_file, 'Write facts in Greek.');
      expect(chunkerIdentity(settings, llm)).not.toBe(before);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is part of the identity of what cuts, as are the settings that decide the chunks', () => {
    const settings = { strategy: 'propositions', passage_tokens: 400, concurrency: 4 };
    const identity = chunkerIdentity(settings, { id: 'small@host' });
    expect(chunkerIdentity({ ...settings, concurrency: 1 }, { id: 'small@host' })).toBe(identity);
    expect(chunkerIdentity({ ...settings, passage_tokens: 300 }, { id: 'small@host' })).not.toBe(identity);
    expect(chunkerIdentity(settings, { id: 'large@host' })).not.toBe(identity);
    const auto = chunkerIdentity({ strategy: 'auto' }, { id: 'small@host' });
    expect(chunkerIdentity({ strategy: 'auto' }, { id: 'large@host' })).toBe(auto);
    expect(chunkerIdentity({ strategy: 'auto', max_tokens: 100 })).not.toBe(auto);
  });

  it("is asked again when it answers something else, and then its failure is the document's", async () => {
    const llm = createScriptedLlm(() => '["cut off');
    const failing = chunkDocument(oneElement('Kettles boil.'), { strategy: 'propositions' }, { tokenizer, llm });
    await expect(failing).rejects.toMatchObject({ code: 'llm_failed' });
    expect(llm.asked).toHaveLength(2);
  });

  it('must be configured', async () => {
    await expect(chunkDocument(oneElement('Kettles boil.'), { strategy: 'propositions' }, { tokenizer })).rejects.toMatchObject({
      code: 'llm_not_configured',
      message: expect.stringContaining('llm.base_url'),
    });
  });

  it('may write facts longer than the model takes: they are parted', async () => {
    const fact = `Kettles ${'boil and boil '.repeat(100)}.`;
    const llm = createScriptedLlm(() => JSON.stringify([fact]));
    const document = oneElement(`Kettles ${'boil and boil '.repeat(20)}.`);
    const { chunks } = await chunkDocument(document, { strategy: 'propositions', max_tokens: 50 }, { tokenizer, llm });
    expect(chunks.length).toBeGreaterThan(4);
    expectLaws(document, chunks, { tokenizer, maxTokens: 50 });
  });
});
