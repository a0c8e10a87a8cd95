/**
 * Times during which the API may answer errors: it was killed, or its Weaviate is away or too slow. An error at any other time is a gap.
 */
export function createExcuses() {
  const active = new Map<string, number>();
  let lastEnd = Number.NEGATIVE_INFINITY;
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
      totalMs += lastEnd - since;
    },
    /** Whether any was valid at a time since `from`. */
    coverSince: (from: number) => active.size > 0 || lastEnd >= from,
    totalMs: () => totalMs,
  };
}

export type Excuses = ReturnType<typeof createExcuses>;
