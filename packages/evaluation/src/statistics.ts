/** Mean with the interval in which it lies with 95 % confidence. */
export interface Estimate {
  mean: number;
  low: number;
  high: number;
  /** How many values it is the mean of. */
  n: number;
}

const RESAMPLES = 2_000;

/**
 * Mean and 95 % percentile bootstrap interval: the questions are drawn again with replacement, 2,000 times (Efron and Tibshirani,
 * An Introduction to the Bootstrap, chapter 13). The same values give the same interval: the draws are seeded.
 */
export function estimate(values: readonly number[]): Estimate {
  if (values.length === 0) return { mean: 0, low: 0, high: 0, n: 0 };
  const random = randomOf(SEED);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return { mean: meanOf(values), low: quantile(means, 0.025), high: quantile(means, 0.975), n: values.length };
}

export interface Comparison {
  /** Mean of `b - a`. */
  difference: number;
  /** 95 % bootstrap interval of the difference. */
  low: number;
  high: number;
  /** Two-sided: how likely a difference as large would be if both were equally good. */
  p: number;
}

const EXACT_BELOW = 14;
const PERMUTATIONS = 10_000;

/**
 * Paired randomisation test between two runs over the same questions (Smucker, Allan and Carterette, CIKM 2007): under the null
 * hypothesis the sign of each question's difference is a coin toss. All sign patterns are tried for up to 13 questions that differ, 10,000 seeded
 * random ones beyond; the observed pattern counts as one of those.
 *
 * @throws RangeError when the runs differ in length
 */
export function compare(a: readonly number[], b: readonly number[]): Comparison {
  if (a.length !== b.length) throw new RangeError(`runs of ${a.length} and ${b.length} questions cannot be paired`);
  const differences = b.map((value, index) => value - (a[index] ?? 0));
  const { mean, low, high } = estimate(differences);
  return { difference: mean, low, high, p: signFlip(differences.filter((difference) => difference !== 0)) };
}

function signFlip(differences: readonly number[]): number {
  if (differences.length === 0) return 1;
  const observed = Math.abs(sumOf(differences)) - 1e-9;
  if (differences.length < EXACT_BELOW) {
    const patterns = 2 ** differences.length;
    let asLarge = 0;
    for (let pattern = 0; pattern < patterns; pattern++) {
      const sum = differences.reduce((total, value, bit) => total + ((pattern >> bit) & 1 ? value : -value), 0);
      if (Math.abs(sum) >= observed) asLarge += 1;
    }
    return asLarge / patterns;
  }
  const random = randomOf(SEED);
  let asLarge = 1;
  for (let i = 1; i < PERMUTATIONS; i++) {
    let sum = 0;
    for (const value of differences) sum += random() < 0.5 ? value : -value;
    if (Math.abs(sum) >= observed) asLarge += 1;
  }
  return asLarge / PERMUTATIONS;
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : sumOf(values) / values.length;
}

/** Of ascending values, by linear interpolation between the two nearest. */
export function quantile(ascending: readonly number[], share: number): number {
  const place = (ascending.length - 1) * share;
  const below = ascending[Math.floor(place)] ?? 0;
  const above = ascending[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

const SEED = 0x5eed;

/** Numbers in [0, 1) from a seed: mulberry32, whose period of 2^32 is far more than what is drawn here. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
