/** All pages of a listing, joined. */
export async function allPages<Item>(
  read: (cursor: string | undefined) => Promise<{ items: Item[]; next_cursor?: string }>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await read(cursor);
    items.push(...page.items);
    if (page.next_cursor === undefined) return items;
    cursor = page.next_cursor;
  }
}

/** Largest page that listings give. */
export const PAGE_LIMIT = 1000;
