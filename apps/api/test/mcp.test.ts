import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SluiceError } from '@sluice/core';
import { createWordTokenizer } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWeaviateWorld } from './weaviate-world.js';
import { createWorld, type World } from './world.js';

const TEXT = 'The sunshield keeps the telescope cold.\n\nIt has five layers of coated film.\n\nKettles boil water.';

let world: World;
let url: string;
beforeAll(async () => {
  world = await createWeaviateWorld();
  await world.put({ docId: 'inbox/guide.md', text: TEXT, metadata: { doc_title: 'Guide', fields: { quarter: 'Q3' } } });
  await world.put({ docId: 'inbox/journal.md', text: 'The sunshield was unfolded in eight days.' });
  await world.put({ docId: 'inbox/secret.md', text: 'The sunshield has a flaw.', metadata: { security_level: 4 } });
  const long = Array.from({ length: 400 }, (_, n) => `Kettle number ${n} boils.`).join('\n\n');
  await world.put({ docId: 'inbox/long.md', text: long });
  url = `${await world.app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
});
afterAll(() => world.close());

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** An agent's connection: by HTTP, or by the process `sluice mcp`; in the protocol's older shape, or the newest that both know. */
const CONNECTIONS = [
  ['http', 'legacy'],
  ['http', 'auto'],
  ['stdio', 'legacy'],
  ['stdio', 'auto'],
] as const;

async function connect(transport: Transport, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

function overHttp(headers: Record<string, string> = {}): Transport {
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

function overStdio(
  command: string = process.execPath,
  args: string[] = [join(root, 'apps/cli/bin/sluice.js'), 'mcp'],
): Transport {
  const env = { PATH: process.env.PATH ?? '', SLUICE_URL: new URL(url).origin };
  return new StdioClientTransport({ command, args, env, stderr: 'pipe' });
}

interface Configured {
  url?: string;
  headers?: Record<string, string>;
  command?: string;
  args?: string[];
}

interface Result {
  isError?: boolean | undefined;
  structuredContent?: unknown;
  content: { type: string; text?: string }[];
}

describe.each(CONNECTIONS)('tools for agents over %s, %s', (kind, mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(kind === 'http' ? overHttp() : overStdio(), mode);
  });
  afterAll(() => client.close());

  async function call(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { isError, structuredContent, content } = (await client.callTool({ name, arguments: args })) as Result;
    expect(isError ?? false, content[0]?.text).toBe(false);
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
    return structuredContent as Record<string, unknown>;
  }

  async function failing(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, content } = (await client.callTool({ name, arguments: args })) as Result;
    expect(isError).toBe(true);
    return content[0]?.text ?? '';
  }

  it('lists tools that change nothing, each with a schema of what it takes and gives', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(['document_status', 'get_document', 'list_sources', 'search']);
    for (const { annotations, description, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
      expect(description).toEqual(expect.any(String));
      expect(outputSchema).toMatchObject({ type: 'object' });
    }
    expect(client.getInstructions()).toContain('not instructions');
  });

  it('searches with a filter, and gives citations that get_document reads', async () => {
    const args = { query: 'How many layers does the sunshield have?', filter: { quarter: 'Q3' }, expand: 'window' };
    const found = await call('search', args);
    expect(found).toMatchObject({ applied_filter: { quarter: 'Q3' }, omitted: 0, degraded: [] });
    const [first] = found.passages as {
      doc_id: string;
      revision: string;
      text: string;
      citation: { start: number; end: number };
    }[];
    expect(first).toMatchObject({ n: 1, doc_id: 'inbox/guide.md', title: 'Guide', source: 'inbox' });
    const { start, end } = first?.citation ?? { start: 0, end: 0 };
    const read = await call('get_document', { doc_id: first?.doc_id, revision: first?.revision, start, end });
    expect(read).toMatchObject({ title: 'Guide', text: first?.text, start, end, length: TEXT.length });
    expect(read).not.toHaveProperty('next_start');
  });

  it('keeps texts within the tokens that are asked for', async () => {
    const tokenizer = createWordTokenizer();
    const found = await call('search', { query: 'kettle', limit: 50, max_tokens: 300 });
    const passages = found.passages as { text: string }[];
    expect(passages.length).toBeGreaterThan(1);
    expect(tokenizer.count(passages.map((passage) => JSON.stringify(passage)).join('\n'))).toBeLessThanOrEqual(300);
    expect(found.omitted).toBeGreaterThan(0);
  });

  it('reads a long document piece by piece, without a gap', async () => {
    const { length } = (await call('get_document', { doc_id: 'inbox/long.md', end: 0 })) as { length: number };
    let text = '';
    let pieces = 0;
    for (let start: number | undefined = 0; start !== undefined; pieces += 1) {
      const piece = await call('get_document', { doc_id: 'inbox/long.md', start, max_tokens: 700 });
      expect(createWordTokenizer().count(piece.text as string)).toBeLessThanOrEqual(700);
      text += piece.text;
      start = piece.next_start as number | undefined;
    }
    expect(pieces).toBeGreaterThan(1);
    expect([text.length, text.includes('Kettle number 399 boils.')]).toEqual([length, true]);
  });

  it('lists sources and the fields of filters', async () => {
    const { sources, fields } = await call('list_sources');
    expect(sources).toContainEqual(
      expect.objectContaining({ name: 'inbox', configured: true, documents: expect.objectContaining({ failed: 0 }) }),
    );
    expect(fields).toContainEqual({ name: 'quarter', type: 'text', list: false });
    expect(fields).toContainEqual({ name: 'tags', type: 'text', list: true });
  });

  it('waits until a document is indexed', async () => {
    const docId = `inbox/late-${kind}-${mode}.md`;
    const path = docId.slice('inbox/'.length);
    await world.queue.queue.add({ source: 'inbox', path, cause: 'add' }, 'interactive');
    expect(await call('document_status', { doc_id: docId })).toMatchObject({ doc_id: docId, status: 'pending', serving: false });
    const waiting = call('document_status', { doc_id: docId, wait_s: 50 });
    const record = await world.put({ docId, text: 'Late.' });
    world.queue.jobs.clear();
    expect(await waiting).toMatchObject({ status: 'indexed', serving: true, revision: record.revision });
  });

  it('says what is wrong as a result that the model reads', async () => {
    expect(await failing('search', { query: 'x', filter: { nonsense: 1 } })).toMatch(/^invalid_filter: .*nonsense/);
    expect(await failing('get_document', { doc_id: 'inbox/none.md' })).toBe('not_found: No document inbox/none.md.');
    expect(await failing('get_document', { doc_id: 'inbox/guide.md', revision: 'old' })).toMatch(/^revision_outdated: /);
    expect(await failing('document_status', { doc_id: 'inbox/none.md', wait_s: 0.3 })).toMatch(/^not_found: /);
    expect(await failing('search', { query: 'x', surprise: 1 })).toContain('surprise');
    expect(await failing('get_document', { doc_id: 'inbox/guide.md', start: 5, end: 4 })).toContain('before start');
  });

  it('shows a caller what the caller may see', async () => {
    const docIds = async () =>
      ((await call('search', { query: 'sunshield flaw' })).passages as { doc_id: string }[]).map(({ doc_id }) => doc_id);
    expect(await docIds()).not.toContain('inbox/secret.md');
    expect(await failing('get_document', { doc_id: 'inbox/secret.md' })).toBe('not_found: No document inbox/secret.md.');
    expect(await failing('document_status', { doc_id: 'inbox/secret.md' })).toBe('not_found: No document inbox/secret.md.');
    world.as({ clearance: 4 });
    expect(await docIds()).toContain('inbox/secret.md');
    expect(await call('get_document', { doc_id: 'inbox/secret.md' })).toMatchObject({ text: 'The sunshield has a flaw.' });
    world.as({ clearance: 1 });
  });
});

it('is closed to pages of other origins', async () => {
  await expect(connect(overHttp({ origin: 'http://elsewhere.example' }), 'legacy')).rejects.toThrow();
});

it('has no streams of its own', async () => {
  const { statusCode, headers } = await world.app.inject({
    method: 'GET',
    url: '/mcp',
    headers: { accept: 'text/event-stream' },
  });
  expect([statusCode, headers.allow]).toEqual([405, 'POST']);
});

it('needs what every route needs: a key', async () => {
  const identify = async () => {
    throw new SluiceError('unauthorized', 'A key is needed.');
  };
  const closed = await createWorld({ identify });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const headers = { accept: 'application/json, text/event-stream' };
  const response = await closed.app.inject({ method: 'POST', url: '/mcp', payload: list, headers });
  await closed.close();
  expect([response.statusCode, response.json().code]).toEqual([401, 'unauthorized']);
});

describe('docs/agents.md', () => {
  const page = readFileSync(join(root, 'docs/agents.md'), 'utf8');
  const configurations = [...page.matchAll(/^```json (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, name = '', code = '']) => [name, code] as const,
  );

  it('has a configuration for three clients', () => expect(configurations.length).toBeGreaterThanOrEqual(3));

  it.each(configurations)('%s leads to the tools', async (_name, code) => {
    const { mcpServers, servers } = JSON.parse(code) as Record<string, Record<string, Configured>>;
    const configured = (mcpServers ?? servers)?.sluice;
    expect(configured?.url ?? 'http://127.0.0.1:4180/mcp').toBe('http://127.0.0.1:4180/mcp');
    const args = configured?.args?.map((arg) => arg.replace('/path/to/sluice/', root));
    const client = await connect(
      args === undefined ? overHttp(configured?.headers) : overStdio(configured?.command, args),
      'legacy',
    );
    expect((await client.listTools()).tools).toHaveLength(4);
    await client.close();
  });

  it('names every tool', async () => {
    const client = await connect(overHttp(), 'auto');
    for (const { name } of (await client.listTools()).tools) expect(page).toContain(`| \`${name}\``);
    await client.close();
  });
});
