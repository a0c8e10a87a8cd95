import { describe, expect, it } from 'vitest';
import { compare, estimate, quantile } from '../src/statistics.js';

describe('estimate', () => {
  it('gives a mean and an interval around it, the same each time', () => {
    const values = Array.from({ length: 100 }, (_, index) => (index % 4 === 0 ? 1 : 0));
    const first = estimate(values);
    expect(first).toEqual(estimate(values));
    expect(first.mean).toBe(0.25);
    // The normal approximation: 0.25 -+ 1.96 * sqrt(0.25 * 0.75 / 100).
    expect(first.low).toBeCloseTo(0.165, 1);
    expect(first.high).toBeCloseTo(0.335, 1);
  });

  it('has no width where all values are equal, and stands for nothing without values', () => {
    expect(estimate([0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5, n: 2 });
    expect(estimate([])).toEqual({ mean: 0, low: 0, high: 0, n: 0 });
  });

  it('covers the true mean in about 95 of 100 samples', () => {
    let state = 1;
    const random = () => {
      state = (state * 16_807) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const covering = Array.from({ length: 200 }, () => estimate(Array.from({ length: 60 }, random))).filter(
      ({ low, high }) => low <= 0.5 && 0.5 <= high,
    );
    expect(covering.length).toBeGreaterThan(200 * 0.89);
    expect(covering.length).toBeLessThan(200 * 0.995);
  });
});

describe('compare', () => {
  it('tries all sign patterns of few questions', () => {
    // Five differences of one sign: 2 of 32 patterns are as large.
    expect(compare([0, 0, 0, 0, 0], [1, 1, 1, 1, 1])).toMatchObject({ difference: 1, p: 2 / 32 });
    expect(compare([0.2, 0.4], [0.2, 0.4])).toMatchObject({ difference: 0, p: 1 });
  });

  it('draws patterns of many questions, and sees a difference that is there alone', () => {
    const a = Array.from({ length: 80 }, (_, index) => (index % 10) / 10);
    const better = a.map((value, index) => value + (index % 3 === 0 ? -0.05 : 0.1));
    const noise = a.map((value, index) => value + (index % 2 === 0 ? -0.1 : 0.1));
    expect(compare(a, better).p).toBeLessThan(0.001);
    expect(compare(a, noise).p).toBeGreaterThan(0.5);
  });

  it('refuses runs of different length', () => {
    expect(() => compare([1], [1, 2])).toThrow(RangeError);
  });
});

describe('quantile', () => {
  it('lies between the nearest values', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([7], 0.9)).toBe(7);
    expect(quantile([], 0.9)).toBe(0);
  });
});
