import { describe, expect, it } from 'vitest';
import { faultLine } from './fault-line.js';

describe('faultLine', () => {
  it.each([
    ["Error: Cannot find module 'x'", "Error: Cannot find module 'x'"],
    ['TypeError: a is not a function', 'TypeError: a is not a function'],
    ['{"level":60,"msg":"the worker could not start","err":{"message":"no model"}}', 'the worker could not start: no model'],
    ['{"level":60,"cause":"no key exists yet","msg":"the API could not start"}', 'the API could not start: no key exists yet'],
    ['{"level":50,"cause":{"a":1},"msg":"failed"}', 'failed'],
    ['{"level":50,"msg":"failed"}', 'failed'],
    ['{"level":30,"msg":"Error: of someone else"}', undefined],
    ['    at Module._load (node:internal)', undefined],
    ['{"level":50,', undefined],
  ])('of %j', (line, expected) => {
    expect(faultLine(line)).toBe(expected);
  });
});
