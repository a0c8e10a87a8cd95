/**
 * The quantile of the `width` values around each index (all of a shorter list; at the ends the first or last `width`), linear
 * interpolation between ranks as numpy's default. Ask in ascending order.
 *
 * @param share 0..1
 */
export function createRollingQuantile(values: readonly number[], width: number, share: number): (index: number) => number {
  const sorted: number[] = [];
  let from = 0;
  let to = 0;

  function place(value: number): number {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return (index) => {
    const wantedFrom = Math.max(0, Math.min(index - Math.floor(width / 2), values.length - width));
    const wantedTo = Math.min(values.length, wantedFrom + width);
    for (; to < wantedTo; to++) sorted.splice(place(values[to] ?? 0), 0, values[to] ?? 0);
    for (; from < wantedFrom; from++) sorted.splice(place(values[from] ?? 0), 1);
    const rank = (sorted.length - 1) * share;
    const low = sorted[Math.floor(rank)] ?? 0;
    const high = sorted[Math.ceil(rank)] ?? low;
    return low + (high - low) * (rank - Math.floor(rank));
  };
}
