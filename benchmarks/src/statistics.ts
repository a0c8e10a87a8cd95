/** The value below which the given share of the values lies (nearest rank). NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Rounded to so many digits after the point. */
export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));
