import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChatServer, startChatServer, TELESCOPE } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const { passage: PASSAGE, trueFacts: TRUE_FACTS, falseFact: FALSE_FACT } = TELESCOPE;

interface Chunks {
  chunks?: { text: string; derived: boolean; start: number; end: number }[];
  dropped?: { text: string; reason: string; start: number; end: number }[];
}

describe('facts that a language model writes', () => {
  let server: ChatServer;
  let sluice: Sluice;
  beforeAll(async () => {
    server = await startChatServer(({ asked }) =>
      JSON.stringify(
        asked.includes('Webb') ? [...TRUE_FACTS, FALSE_FACT] : [(asked.split('Passage:\n')[1] ?? '').split('\n').at(-1)],
      ),
    );
    sluice = await createSluice({
      config: `llm: { base_url: "${server.baseUrl}", model: small, api_key_env: FACTS_KEY }
schema: { default_security_level: 1 }
sources:
  - name: inbox
    path: FOLDER
    rules: [{ match: "facts/**", chunking: { strategy: propositions } }]
`,
      env: { FACTS_KEY: 'hunter2' },
    });
    await sluice.up();
  });
  afterAll(async () => {
    await sluice.close();
    await server.close();
  });

  const chunksOf = async (query: string) =>
    (await (await fetch(`${sluice.url}/v1/documents/inbox%2Ffacts%2Fwebb.md/chunks${query}`)).json()) as Chunks;
  const text = (more: string) => `# Telescope\n\n${PASSAGE}\n\n# Visitors\n\n${more}\n`;

  it('are kept where the passage bears them out; the others are counted and can be looked at', async () => {
    await sluice.write('facts/webb.md', text('The exhibition opens at nine.'));
    await sluice.write('plain.md', 'No model is asked about this one.');
    await sluice.settle();
    const { chunks } = await chunksOf('');
    expect(chunks?.map((chunk) => chunk.text)).toEqual([...TRUE_FACTS, 'The exhibition opens at nine.']);
    for (const chunk of chunks ?? []) expect(chunk.derived).toBe(true);
    const { dropped } = await chunksOf('?dropped=true');
    expect(dropped).toMatchObject([{ text: FALSE_FACT, reason: expect.stringMatching(/Roscosmos|1999/) }]);
    const { documents } = await sluice.json<{ documents: { doc_id: string; warnings: string[] }[] }>('documents');
    const found = documents.find((document) => document.doc_id === 'inbox/facts/webb.md');
    expect(found?.warnings.join()).toContain('1 fact of the language model');
    const { results } = await sluice.search({ query: 'How many layers does the sunshield have?' });
    expect(results[0]).toMatchObject({ doc_id: 'inbox/facts/webb.md', text: TRUE_FACTS[3] });
    expect(server.requests.map(({ model, authorization }) => [model, authorization])).toEqual([
      ['small', 'Bearer hunter2'],
      ['small', 'Bearer hunter2'],
    ]);
  });

  it('are asked for again where the text changed, and nowhere else', async () => {
    const before = server.requests.length;
    const computed = await sluice.metric('sluice_embeddings_computed_total');
    await sluice.write('facts/webb.md', text('The exhibition opens at ten.'));
    await sluice.settle();
    expect(await sluice.find('exhibition ten')).toEqual(['inbox/facts/webb.md']);
    expect(server.requests.slice(before)).toMatchObject([{ asked: expect.stringContaining('opens at ten') }]);
    expect(await sluice.metric('sluice_embeddings_computed_total')).toBe(computed + 1);
  });

  it('are shown by the command, without a running instance', async () => {
    const ran = await sluice.cli('chunk', join(sluice.folder, 'facts/webb.md'), '--strategy', 'propositions', '--json');
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(FALSE_FACT) });
    expect(ran.stderr).toMatch(/language model: 2 calls, \d+ tokens read, \d+ written/);
    expect((JSON.parse(ran.stdout) as { text: string }[]).map((chunk) => chunk.text)).toContain(TRUE_FACTS[3]);
  });

  it('are written again by another model, and those of no other document', async () => {
    await sluice.down();
    const file = join(sluice.base, 'sluice.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace('model: small', 'model: large'));
    const before = server.requests.length;
    await sluice.up();
    await sluice.settle();
    expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['large', 'large']);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
  });

  it('make a dead letter of a document when the endpoint refuses', async () => {
    await sluice.down();
    await server.close();
    const refusing = await startChatServer(() => 401);
    try {
      const file = join(sluice.base, 'sluice.yaml');
      await writeFile(file, (await readFile(file, 'utf8')).replace(server.baseUrl, refusing.baseUrl));
      await sluice.up();
      await sluice.settle();
      const { dead_letters } = await sluice.json<{ dead_letters: { doc_id: string; code: string }[] }>('dlq', 'list');
      expect(dead_letters).toMatchObject([{ doc_id: 'inbox/facts/webb.md', code: 'llm_failed' }]);
      expect(await sluice.find('exhibition ten')).toEqual(['inbox/facts/webb.md']);
    } finally {
      await refusing.close();
    }
  });

  it('need an endpoint: without one nothing starts', async () => {
    await sluice.down();
    const file = join(sluice.base, 'sluice.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^llm.*\n/, ''));
    const ran = await sluice.cli('up');
    expect(ran.code).toBe(2);
    expect(`${ran.stdout}${ran.stderr}`).toContain(
      'sources[0].rules[0].chunking.strategy: propositions needs a language model: set llm.base_url',
    );
  });
});
