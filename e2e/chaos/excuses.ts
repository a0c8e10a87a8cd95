/**
 * Times during which the API may answer errors: it was killed, or its Weaviate is away or too slow. An error at any other time is a gap.
 */
export function createExcuses() {
  const active = new Map<string, number>();
  let lastEnd = Number.NEGATIVE_INFINITY;
  let lastWhy = '';
  let totalMs = 0;
  return {
    begin(why: string) {
      active.set(why, performance.now());
    },
    end(why: string) {
      const since = active.get(why);
      if (since === undefined) return;
      active.delete(why);
      lastEnd = performance.now();
      lastWhy = why;
      totalMs += lastEnd - since;
    },
    /** What was valid at a time since `from`, if anything was. */
    coverSince(from: number): string | undefined {
      const [running] = active.keys();
      return running ?? (lastEnd >= from ? lastWhy : undefined);
    },
    totalMs: () => totalMs,
  };
}

export type Excuses = ReturnType<typeof createExcuses>;
