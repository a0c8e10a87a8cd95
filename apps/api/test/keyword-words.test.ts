import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWeaviateWorld } from './weaviate-world.js';
import type { World } from './world.js';

const DOCUMENTS: Record<string, string> = {
  'menu.md': 'The cre\u0300me bru\u0302le\u0301e of Nguye\u0302\u0303n is served in one Gro\u0308\u00dfe.',
  'plain.md': 'His resume hangs on the facade.',
  'city.md': 'The ferry to Łódź leaves İSTANBUL with Søren.',
  'book.md': 'كِتَاب עִבְרִית',
  'billing.ts': 'export function getInvoiceTotal(lines: Line[]): number { return sum(lines); }',
  'ids.py': 'def parse_user_id(raw): return int(raw.strip())',
  'c.md': 'The crane loader is written in C.',
  'cpp.md': 'The crane driver is written in C++.',
  'csharp.md': 'The crane viewer is written in C#.',
  'people/Orla Quist.md': 'Phone 5512, mornings alone.',
  'Quay-Memory.txt': 'Ropes swell when they are wet.',
  'part.md': 'The valve QX\u20137731 is new.',
  'play.md': 'To be, or not to be.',
  'tokyo.md': '東京都の天気は晴れです。',
  'seals.md': '# Gasket\nSeals the flange of a pump.',
  'orders.md': 'gasket, gasket: order "what is a gasket" gaskets',
  'wide.md': 'ＦＵＬＬ ｗｉｄｔｈ ﬁtting',
};

let world: World;
beforeAll(async () => {
  world = await createWeaviateWorld();
  for (const [path, text] of Object.entries(DOCUMENTS)) await world.put({ docId: `inbox/${path}`, text });
});
afterAll(() => world.close());

async function found(query: string): Promise<string[]> {
  const response = await world.app.inject({ method: 'POST', url: '/v1/search', payload: { query, mode: 'keyword', limit: 20 } });
  const { results } = response.json<{ results: { doc_id: string }[] }>();
  return results.map(({ doc_id }) => doc_id.slice('inbox/'.length));
}

describe('words of a keyword search', () => {
  it.each([
    ['crème brûlée', 'menu.md'],
    ['brulee', 'menu.md'],
    ['Größe', 'menu.md'],
    ['Nguyễn', 'menu.md'],
    ['nguyen', 'menu.md'],
    ['résumé façade', 'plain.md'],
    ['lodz', 'city.md'],
    ['istanbul', 'city.md'],
    ['soren', 'city.md'],
    ['كتاب', 'book.md'],
    ['עברית', 'book.md'],
    ['getInvoiceTotal', 'billing.ts'],
    ['invoice total', 'billing.ts'],
    ['parse_user_id', 'ids.py'],
    ['user id', 'ids.py'],
    ['C', 'c.md'],
    ['C++', 'cpp.md'],
    ['C#', 'csharp.md'],
    ['Orla Quist', 'people/Orla Quist.md'],
    ['orla quist phone', 'people/Orla Quist.md'],
    ['Quay-Memory', 'Quay-Memory.txt'],
    ['quay memory', 'Quay-Memory.txt'],
    ['QX-7731', 'part.md'],
    ['QX\u20147731', 'part.md'],
    ['QX\u22127731', 'part.md'],
    ['to be or not to be', 'play.md'],
    ['東京', 'tokyo.md'],
    ['天気', 'tokyo.md'],
    ['full width fitting', 'wide.md'],
    ['what is a gasket', 'seals.md'],
    ['Gaskets', 'seals.md'],
  ])('%s finds %s first', async (query, path) => expect((await found(query))[0]).toBe(path));

  it.each([
    ['C++', ['c.md', 'csharp.md']],
    ['C#', ['c.md', 'cpp.md']],
    ['QX-7732', ['part.md']],
  ])('%s does not find %j', async (query, others) => {
    const paths = await found(query);
    for (const other of others) expect(paths).not.toContain(other);
  });
});
