/** Numbers from a seed (mulberry32): the same seed gives the same workload and the same faults, though not the same timing. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const random = {
    next,
    /** A whole number from `from` to `to`, both included. */
    int: (from: number, to: number) => from + Math.floor(next() * (to - from + 1)),
    chance: (share: number) => next() < share,
    pick<T>(values: readonly T[]): T {
      const value = values[Math.floor(next() * values.length)];
      if (value === undefined) throw new Error('nothing to pick from');
      return value;
    },
    /** The values in another order. */
    shuffle<T>(values: readonly T[]): T[] {
      const order = values.map((value) => ({ value, key: next() }));
      return order.sort((a, b) => a.key - b.key).map(({ value }) => value);
    },
  };
  return random;
}

export type Random = ReturnType<typeof createRandom>;
