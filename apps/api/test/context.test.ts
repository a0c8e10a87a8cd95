import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWeaviateWorld } from './weaviate-world.js';
import type { World } from './world.js';

const GUIDE = [
  'Kettles boil water.',
  'Telescopes watch stars through a sunshield.',
  'A sunshield keeps telescopes cold.',
  'Pumps move oil.',
].join('\n\n');

let world: World;
beforeAll(async () => {
  world = await createWeaviateWorld();
  await world.put({ docId: 'inbox/guide.md', text: GUIDE, metadata: { doc_title: 'Guide' }, headingPath: ['Parts'] });
  await world.put({ docId: 'inbox/other.md', text: 'Telescopes are sold with a sunshield.' });
  await world.put({ docId: 'inbox/secret.md', text: 'The sunshield of telescopes is cobalt.', metadata: { security_level: 4 } });
});
afterAll(() => world.close());

async function context(body: Record<string, unknown>) {
  const response = await world.app.inject({ method: 'POST', url: '/v1/context', payload: body });
  return { status: response.statusCode, body: response.json() };
}

describe('POST /v1/context', () => {
  it('numbers its sources and cites where each stands', async () => {
    const { status, body } = await context({ query: 'sunshield of telescopes', mode: 'keyword' });
    expect(status).toBe(200);
    expect(body.sources.map(({ n }: { n: number }) => n)).toEqual(body.sources.map((_: unknown, at: number) => at + 1));
    const cited = body.sources.filter(({ doc_id }: { doc_id: string }) => doc_id === 'inbox/guide.md');
    expect(cited).toHaveLength(2);
    for (const { n, title, revision, citation } of cited) {
      expect(title).toBe('Guide');
      expect(body.context).toContain(`[${n}] Guide > Parts\n${GUIDE.slice(citation.start, citation.end)}`);
      const url = `/v1/documents/inbox%2Fguide.md/text?revision=${revision}&start=${citation.start}&end=${citation.end}`;
      const { text } = (await world.app.inject(url)).json();
      expect(body.context).toContain(text);
    }
    expect(body).toMatchObject({ tokenizer: 'words', omitted: 0, degraded: [], applied_filter: {} });
  });

  it('joins windows that overlap, so that no sentence stands in it twice', async () => {
    const { body } = await context({
      query: 'sunshield telescopes',
      mode: 'keyword',
      expand: 'window',
      filter: { doc_id: 'inbox/guide.md' },
    });
    expect(body.sources).toHaveLength(1);
    expect(body.context).toBe(`[1] Guide > Parts\n${GUIDE}`);
    expect(body.sources[0].citation).toMatchObject({ start: 0, end: GUIDE.length });
  });

  it('keeps within the token budget and says how many passages it left out', async () => {
    for (const max_tokens of [1, 3, 8, 12, 20, 40]) {
      const { body } = await context({ query: 'telescopes sunshield oil water', max_tokens });
      expect(body.tokens, String(max_tokens)).toBeLessThanOrEqual(Math.max(2, max_tokens));
      expect(body.omitted + body.sources.length).toBe(5);
    }
  });

  it('puts the best first and last when asked for edges', async () => {
    const query = { query: 'telescopes sunshield oil water' };
    const ids = ({ body }: { body: { sources: { citation: { start: number }; doc_id: string }[] } }) =>
      body.sources.map(({ doc_id, citation }) => `${doc_id} ${citation.start}`);
    const [first, second, third, fourth, fifth] = ids(await context(query));
    expect(ids(await context({ ...query, order: 'edges' }))).toEqual([first, third, fifth, fourth, second]);
  });

  it('marks where a source is cut off', async () => {
    const query = { query: 'pumps oil', mode: 'keyword', limit: 1 };
    expect((await context({ ...query, mark_edges: true })).body.context).toBe('[1] Guide > Parts\n[...] Pumps move oil.');
    expect((await context(query)).body.context).toBe('[1] Guide > Parts\nPumps move oil.');
  });

  it('holds nothing that the caller may not see', async () => {
    const query = { query: 'cobalt sunshield', limit: 100 };
    expect(JSON.stringify((await context(query)).body)).not.toMatch(/secret|is cobalt/);
    world.as({ clearance: 4 });
    expect(JSON.stringify((await context(query)).body)).toContain('is cobalt');
    world.as({ clearance: 1 });
  });

  it.each([
    { max_tokens: 0 },
    { max_tokens: 1.5 },
    { order: 'random' },
    { mark_edges: 1 },
    { stream: true },
    { alpha: 0.5, mode: 'keyword' },
  ])('refuses %j', async (more) => {
    const { status, body } = await context({ query: 'x', ...more });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });
});
