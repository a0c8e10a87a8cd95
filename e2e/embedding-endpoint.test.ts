import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddingServer, startEmbeddingServer } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const DIMENSIONS = 64;

describe('an embedding model that sluice.yaml chooses', () => {
  let server: EmbeddingServer;
  let sluice: Sluice;
  let section: string;
  beforeAll(async () => {
    server = await startEmbeddingServer(DIMENSIONS);
    section = `embedding: { model: small, base_url: "${server.baseUrl}", dimensions: ${DIMENSIONS}, api_key_env: EMBED_KEY, passage_prefix: "passage: " }\n`;
    sluice = await createSluice({
      config: `${section}queue: { attempts: 1 }
schema: { default_security_level: 1 }
sources: [{ name: inbox, path: FOLDER }]
`,
      env: { EMBED_KEY: 'hunter2' },
    });
    await sluice.up();
  });
  afterAll(async () => {
    await sluice.close();
    await server.close();
  });

  const rewrite = async (from: string, to: string) => {
    const file = join(sluice.base, 'sluice.yaml');
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };
  const dense = async (query: string) =>
    (await sluice.search({ query, mode: 'dense', limit: 1 })).results.map((result) => result.doc_id);
  const passages = () => server.requests.flatMap(({ input }) => input).filter((text) => text.startsWith('passage: '));

  it('is an endpoint, which documents and questions are sent to', async () => {
    await sluice.write('kettle.md', 'The kettle boils on the stove.');
    await sluice.write('ferry.md', 'The ferry leaves at seven.');
    await sluice.settle();
    expect(await dense('kettle stove')).toEqual(['inbox/kettle.md']);
    expect(await dense('ferry seven')).toEqual(['inbox/ferry.md']);
    expect(passages()).toEqual(
      expect.arrayContaining(['passage: The kettle boils on the stove.', 'passage: The ferry leaves at seven.']),
    );
    expect(new Set(server.requests.map(({ model, authorization }) => `${model} ${authorization}`))).toEqual(
      new Set(['small Bearer hunter2']),
    );
    expect(await sluice.metric('sluice_embeddings_computed_total')).toBe(2);
    expect(await sluice.metric('sluice_embedding_tokens_total')).toBeGreaterThan(0);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
  });

  it('may be away: documents wait for it, and none fails', async () => {
    server.behave = (_, response) => void response.writeHead(503).end();
    await sluice.write('anchor.md', 'The anchor is of iron.');
    await sluice.write('ferry.md', 'The ferry leaves at eight.');
    const log = () => readFile(join(sluice.data, 'log', 'worker.ndjson'), 'utf8');
    await expect.poll(log, { timeout: 60_000 }).toContain('the embedding endpoint is away: jobs are held');
    expect(await sluice.status()).toMatchObject({ state: 'working', dead_letters: 0 });
    const { results } = await sluice.search({ query: 'ferry', mode: 'keyword' });
    expect(results.map(({ text }) => text)).toEqual(['The ferry leaves at seven.']);
    server.behave = undefined;
    await sluice.settle();
    expect(await sluice.status()).toMatchObject({ state: 'idle', dead_letters: 0 });
    expect(await dense('anchor iron')).toEqual(['inbox/anchor.md']);
    expect(await log()).toContain('the embedding endpoint answers again');
  });

  it('is the one that runs here once the section is gone, and nothing is sent any more', async () => {
    await sluice.down();
    await rewrite(section, '');
    const before = server.requests.length;
    await sluice.up();
    await sluice.settle();
    expect(await dense('boiling water for tea')).toEqual(['inbox/kettle.md']);
    expect(await sluice.metric('sluice_embeddings_computed_total')).toBe(3);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
    await sluice.write('kettle.md', 'The kettle whistles on the stove.');
    await sluice.settle();
    expect(server.requests).toHaveLength(before);
  });

  it('is the endpoint again, which is sent only what changed meanwhile', async () => {
    await sluice.down();
    await rewrite('queue:', `${section}queue:`);
    const before = passages().length;
    await sluice.up();
    await sluice.settle();
    expect(await dense('kettle whistles')).toEqual(['inbox/kettle.md']);
    expect(
      passages()
        .slice(before)
        .filter((text) => !text.includes('word')),
    ).toEqual(['passage: The kettle whistles on the stove.']);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
  });

  it('is no endpoint that refuses the key: nothing starts, and the reason is said', async () => {
    await sluice.down();
    server.behave = (_, response) => void response.writeHead(401).end();
    const ran = await sluice.cli('up');
    expect(ran.code).not.toBe(0);
    expect(`${ran.stdout}${ran.stderr}`).toMatch(/embedding endpoint at .* answered 401/);
  });
});
