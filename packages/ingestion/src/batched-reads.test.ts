import { until } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { combineReads } from './batched-reads.js';

it('sends a lone read at once and joins those that wait for it', async () => {
  const requests: string[][] = [];
  const gates: (() => void)[] = [];
  const read = combineReads(async (keys) => {
    requests.push([...keys]);
    await new Promise<void>((resolve) => gates.push(resolve));
    return new Map(keys.map((key) => [key, key.toUpperCase()]));
  });
  const first = read(['a']);
  await until(() => expect(requests.length).toBe(1));
  const others = [read(['b']), read(['c', 'b'])];
  expect(requests).toEqual([['a']]);
  gates[0]?.();
  expect(await first).toEqual(new Map([['a', 'A']]));
  await until(() => expect(requests.length).toBe(2));
  expect(requests[1]).toEqual(['b', 'c']);
  gates[1]?.();
  expect(await Promise.all(others)).toEqual([
    new Map([['b', 'B']]),
    new Map([
      ['c', 'C'],
      ['b', 'B'],
    ]),
  ]);
});

it('lets reads of the same turn share a request', async () => {
  const requests: string[][] = [];
  const read = combineReads(async (keys) => {
    requests.push([...keys]);
    return new Map(keys.map((key) => [key, 1]));
  });
  await Promise.all([read(['a']), read(['b']), read(['a'])]);
  expect(requests).toEqual([['a', 'b']]);
});

it('hands a failure to all that shared the request and goes on', async () => {
  let calls = 0;
  const read = combineReads(async (keys) => {
    calls += 1;
    if (calls === 1) throw new Error('away');
    return new Map(keys.map((key) => [key, 1]));
  });
  await expect(read(['a'])).rejects.toThrow('away');
  expect(await read(['a'])).toEqual(new Map([['a', 1]]));
});
