import type { DocumentMetadata, Llm } from '@sluice/core';
import type { DocumentToStore } from '@sluice/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

const VISIBLE: DocumentToStore[] = [
  { docId: 'inbox/guide.md', text: 'The kettle boils.\n\nIda wrote of cobalt.', metadata: { author: 'Ida', tags: ['tea'] } },
  {
    docId: 'inbox/log.md',
    text: 'Cobalt was delivered.',
    metadata: { doc_type: 'report', created_at: '2024-03-02T00:00:00.000Z' },
  },
  { docId: 'inbox/ours.md', text: 'Our cobalt.', metadata: { allowed_groups: ['a'], fields: { year: 2023 } } },
];

/** Documents that nobody of clearance 1 and group `a` may know of: with words, values and a date that the requests below ask for. */
const hidden = fc.record({
  name: fc.constantFrom('secret', 'plan', 'memo'),
  text: fc.constantFrom('Cobalt kettle.', 'Vera knows the cobalt recipe.', 'kettle\n\ncobalt\n\nboils'),
  access: fc.constantFrom<Partial<DocumentMetadata>>(
    { security_level: 2 },
    { security_level: 5 },
    { allowed_groups: ['b'] },
    { allowed_groups: [] },
    { security_level: 3, allowed_groups: ['a'] },
  ),
  more: fc.constantFrom<Partial<DocumentMetadata>>(
    { author: 'Vera', doc_type: 'memo' },
    { tags: ['tea', 'mole'], created_at: '2024-03-05T00:00:00.000Z' },
    { fields: { year: 1999, quarter: 'Q9' } },
  ),
  failed: fc.boolean(),
});

const SCRIPTED: Llm = {
  id: 'scripted',
  complete: async () => ({ text: 'Cobalt was delivered [1].', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  stream: () => {
    throw new Error('nothing streams here');
  },
};

type Request = [method: 'GET' | 'POST', url: string, body?: Record<string, unknown>];

const hiddenIds = ['secret', 'plan', 'memo'].map((name) => `inbox/${name}.md`);
const FACETS = ['doc_type', 'tags', 'author', 'year', 'quarter', 'source', 'security_level', 'allowed_groups'];
const tool = (name: string, args: Record<string, unknown> = {}): Request => [
  'POST',
  '/mcp',
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
];

/** Every route that reads, and every tool of agents. */
const REQUESTS: Request[] = [
  ...(['hybrid', 'dense', 'keyword'] as const).map(
    (mode): Request => ['POST', '/v1/search', { query: 'cobalt kettle', mode, limit: 50, highlight: true, facets: FACETS }],
  ),
  ['POST', '/v1/search', { query: 'what did Vera say of the mole last month', infer_filter: true, now: '2024-04-10' }],
  ['POST', '/v1/search', { query: 'memo in Q9', infer_filter: true, now: '2024-04-10', facets: FACETS }],
  ['POST', '/v1/search', { query: 'cobalt', filter: { author: 'Vera' }, facets: ['author'] }],
  ['POST', '/v1/search', { query: 'cobalt', filter: { security_level: { $gte: 2 } } }],
  ['POST', '/v1/search', { query: 'cobalt', filter: { nonsense: 1 } }],
  ['POST', '/v1/search', { like: { doc_id: 'inbox/guide.md' }, limit: 50 }],
  ...hiddenIds.map((doc_id): Request => ['POST', '/v1/search', { like: { doc_id } }]),
  ['POST', '/v1/search/batch', { queries: [{ query: 'cobalt' }, { query: 'Vera', mode: 'keyword', facets: FACETS }] }],
  ['POST', '/v1/context', { query: 'cobalt', limit: 50 }],
  ['POST', '/v1/answer', { query: 'Who knows the recipe?' }],
  ['GET', '/v1/documents'],
  ['GET', '/v1/documents?status=failed'],
  ['GET', '/v1/documents?status=pending'],
  ['GET', '/v1/documents?limit=1'],
  ['GET', '/v1/documents?doc_id=inbox/secret.md'],
  ...hiddenIds.flatMap((id): Request[] =>
    ['', '/chunks', '/text', '/text?revision=x'].map((rest) => ['GET', `/v1/documents/${encodeURIComponent(id)}${rest}`]),
  ),
  ['GET', '/v1/sources'],
  ['GET', '/v1/schema'],
  tool('search', { query: 'cobalt kettle', limit: 50 }),
  tool('search', { query: 'what did Vera say of the mole', infer_filter: true }),
  tool('list_sources'),
  ...hiddenIds.flatMap((doc_id) => [tool('get_document', { doc_id }), tool('document_status', { doc_id })]),
];

/** An answer without what differs from one world, or one request, to the next. */
function comparable(text: string): unknown {
  // An event of a stream is its data.
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(json, (name, value: unknown) => {
    if (['revision', 'chunk_id', 'committed_at', 'took_ms', 'request_id', 'instance'].includes(name)) return undefined;
    // A tool's result holds JSON as text, beside the same as structured content.
    return name === 'text' && typeof value === 'string' && value.startsWith('{') ? comparable(value) : value;
  });
}

async function answersOf(world: World): Promise<[request: string, status: number, answer: unknown][]> {
  const headers = { accept: 'application/json, text/event-stream' };
  const answers: [string, number, unknown][] = [];
  for (const [method, url, payload] of REQUESTS) {
    const response = await world.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
    answers.push([`${method} ${url} ${JSON.stringify(payload ?? '')}`, response.statusCode, comparable(response.body)]);
  }
  return answers;
}

async function worldWith(documents: readonly DocumentToStore[], pending: readonly string[]): Promise<World> {
  const world = await createWorld({}, { llm: SCRIPTED });
  for (const document of documents) await world.put(document);
  // The source `notes` is of level 3 in these worlds.
  for (const path of pending) await world.queue.queue.add({ source: 'notes', path, cause: 'add' }, 'interactive');
  world.as({ role: 'reader', clearance: 1, groups: ['a'] });
  return world;
}

describe('what a key may not see', () => {
  it('changes no answer of any route or tool', async () => {
    const without = await worldWith(VISIBLE, []);
    const expected = await answersOf(without);
    // The requests find what there is to be found.
    expect(expected.filter(([, status]) => status === 200).length).toBeGreaterThan(20);
    await without.close();
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(hidden, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
        fc.subarray(['a.md', 'b.md']),
        async (documents, pending) => {
          const added = documents.map(({ name, text, access, more, failed }): DocumentToStore => {
            const record = failed ? { status: 'failed' as const, reason: 'corrupt' as const, message: 'Vera' } : {};
            return { docId: `inbox/${name}.md`, text, metadata: { ...more, ...access }, record };
          });
          const world = await worldWith([...VISIBLE, ...added], pending);
          try {
            expect(await answersOf(world)).toEqual(expected);
            // The other way round, so that the test would notice: who may see them gets other answers.
            world.as({ clearance: 5, role: 'operator' });
            expect(await answersOf(world)).not.toEqual(expected);
          } finally {
            await world.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
