/** Maps items with at most `limit` calls under way; results in the order of the items. The first failure is thrown. */
export async function mapLimited<T, R>(items: readonly T[], limit: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  async function work(): Promise<void> {
    // All workers draw from one iterator.
    for (const [index, item] of entries) results[index] = await map(item);
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
