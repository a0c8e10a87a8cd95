import { expect, it } from 'vitest';
import { quantile, trendOf } from '../src/statistics.js';

it('takes the value below which a share of the values lies', () => {
  expect(quantile([5, 1, 4, 2, 3], 0.5)).toBe(3);
  expect(quantile([5, 1, 4, 2, 3], 0.95)).toBe(5);
  expect(quantile([], 0.5)).toBeNaN();
});

it('finds the growth of a straight line exactly, and no noise in it', () => {
  const { growth, noise } = trendOf([100, 110, 120, 130, 140]);
  expect(growth).toBeCloseTo(40 / 120);
  expect(noise).toBeCloseTo(0);
});

it('finds no growth beyond the noise in values that only vary', () => {
  const { growth, noise } = trendOf([10, 12, 9, 11, 10, 12, 9, 11, 10, 12]);
  expect(Math.abs(growth)).toBeLessThan(noise);
});

it('finds growth beyond the noise in values that vary around a rising line', () => {
  const { growth, noise } = trendOf([10, 13, 11, 14, 12, 15, 13, 16, 14, 17]);
  expect(growth).toBeGreaterThan(noise);
});

it('says nothing about fewer than three values', () => {
  expect(trendOf([1, 2]).growth).toBeNaN();
});
