/** The value below which the given share of the values lies (nearest rank). NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Rounded to so many digits after the point. */
export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

export interface Trend {
  /** Change of the fitted line from the first value to the last, as a share of the mean. */
  growth: number;
  /** Half the 95 % interval of it: two standard errors of the slope of an ordinary least-squares fit, over the same stretch. */
  noise: number;
}

/** The straight line through values taken at equal distances, by least squares. NaN for fewer than three values. */
export function trendOf(values: readonly number[]): Trend {
  const count = values.length;
  if (count < 3) return { growth: Number.NaN, noise: Number.NaN };
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const middle = (count - 1) / 2;
  const spread = values.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
  const slope = values.reduce((sum, value, n) => sum + (n - middle) * (value - mean), 0) / spread;
  const residual = values.reduce((sum, value, n) => sum + (value - mean - slope * (n - middle)) ** 2, 0);
  const error = Math.sqrt(residual / (count - 2) / spread);
  const stretch = (count - 1) / mean;
  return { growth: slope * stretch, noise: 2 * error * stretch };
}
