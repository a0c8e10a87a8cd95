/** Maps with at most `concurrency` calls under way, yielding results in the order of the items. */
export async function* mapInOrder<T, R>(
  items: Iterable<T>,
  concurrency: number,
  map: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  const source = items[Symbol.iterator]();
  try {
    for (;;) {
      while (running.length < concurrency) {
        const next = source.next();
        if (next.done === true) break;
        running.push(map(next.value));
      }
      const first = running.shift();
      if (first === undefined) return;
      yield await first;
    }
  } finally {
    // One failed: the others' failures are the same news.
    await Promise.allSettled(running);
  }
}
