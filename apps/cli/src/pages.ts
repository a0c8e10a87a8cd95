import type { Api } from './api.js';

/** All pages of a listing, joined. */
export async function allPages<Name extends string, Item>(
  api: Api,
  path: string,
  name: Name,
  query: Record<string, string | undefined>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await api.get<Record<Name, Item[]> & { next_cursor?: string }>(path, { ...query, limit: 1000, cursor });
    items.push(...page[name]);
    if (page.next_cursor === undefined) return items;
    cursor = page.next_cursor;
  }
}
