import { describe, expect, it } from 'vitest';
import { createBatcher } from './batcher.js';

interface Item {
  name: string;
  bytes: number;
}

const item = (name: string, bytes = 1): Item => ({ name, bytes });
const items = (name: string, count: number) => Array.from({ length: count }, (_, n) => item(`${name}${n}`));

/** A batcher whose batches end when the test says so. */
function manual(options: { maxItems?: number; maxBytes?: number; maxInFlight?: number } = {}) {
  const batches: { names: string[]; end(errors?: (Error | undefined)[]): void; fail(error: Error): void }[] = [];
  const waiting: (() => void)[] = [];
  const batcher = createBatcher<Item>({
    maxItems: 100,
    maxBytes: 1_000,
    maxInFlight: 1,
    ...options,
    send: (sent) =>
      new Promise((resolve, reject) => {
        batches.push({
          names: sent.map((one) => one.name),
          end: (errors) => resolve(errors ?? sent.map(() => undefined)),
          fail: reject,
        });
        for (const wake of waiting.splice(0)) wake();
      }),
  });
  return {
    batcher,
    batches,
    async batch(n: number) {
      while (batches.length <= n) await new Promise<void>((resolve) => waiting.push(resolve));
      const found = batches[n];
      if (found === undefined) throw new Error('no batch');
      return found;
    },
  };
}

describe('group commit', () => {
  it('sends a lone call at once, and what comes meanwhile together afterwards', async () => {
    const { batcher, batch, batches } = manual();
    const first = batcher.write([item('a')]);
    expect((await batch(0)).names).toEqual(['a']);
    const others = ['b', 'c', 'd'].map((name) => batcher.write([item(name)]));
    await Promise.resolve();
    expect(batches).toHaveLength(1);
    batches[0]?.end();
    await first;
    expect((await batch(1)).names).toEqual(['b', 'c', 'd']);
    batches[1]?.end();
    await Promise.all(others);
    await batcher.write([]);
  });

  it('starts a second batch only when what waits fills it by number or bytes', async () => {
    for (const filling of [items('b', 2), [item('b0', 9)]]) {
      const { batcher, batch, batches } = manual({ maxItems: 3, maxBytes: 10, maxInFlight: 2 });
      const first = batcher.write([item('a')]);
      await batch(0);
      const lone = batcher.write([item('lone')]);
      await Promise.resolve();
      expect(batches).toHaveLength(1);
      const full = batcher.write(filling);
      expect((await batch(1)).names).toContain('lone');
      const rest = batcher.write([item('rest')]);
      await Promise.resolve();
      expect(batches).toHaveLength(2);
      batches[0]?.end();
      batches[1]?.end();
      (await batch(2)).end();
      await Promise.all([first, lone, full, rest]);
    }
  });

  it('bounds batches by number and bytes; one that is too large goes alone', async () => {
    const { batcher, batch } = manual({ maxItems: 3, maxBytes: 10, maxInFlight: 1 });
    const done = batcher.write([
      item('a', 4),
      item('b', 4),
      item('c', 4),
      item('huge', 99),
      item('d'),
      item('e'),
      item('f'),
      item('g'),
    ]);
    for (const [n, names] of [['a', 'b'], ['c'], ['huge'], ['d', 'e', 'f'], ['g']].entries()) {
      const sent = await batch(n);
      expect(sent.names).toEqual(names);
      sent.end();
    }
    await done;
  });

  it('lets a small call into the next batch while a large one is under way', async () => {
    const { batcher, batch } = manual();
    const large = batcher.write(items('large', 1_000));
    (await batch(0)).end();
    const small = batcher.write([item('small')]);
    const running = await batch(1);
    running.end();
    const next = running.names.includes('small') ? running : await batch(2);
    expect(next.names).toContain('small');
    next.end();
    await small;
    for (let n = 2; n < 12; n++) {
      const sent = await Promise.race([batch(n), large.then(() => undefined)]);
      sent?.end();
    }
    await large;
  });

  it('rejects the call whose item failed, with that error, and no other', async () => {
    const { batcher, batch } = manual();
    const [good, bad, other] = [batcher.write([item('a')]), batcher.write([item('b'), item('c')]), batcher.write([item('d')])];
    (await batch(0)).end([undefined, undefined, new Error('c is bad'), undefined]);
    await expect(bad).rejects.toThrow('c is bad');
    await Promise.all([good, other]);
  });

  it('rejects every call of a batch that was not sent, sends nothing more of them, and goes on', async () => {
    const { batcher, batch, batches } = manual({ maxItems: 2 });
    const lost = batcher.write(items('x', 5));
    (await batch(0)).fail(new Error('no answer'));
    await expect(lost).rejects.toThrow('no answer');
    const next = batcher.write([item('y')]);
    const sent = await batch(1);
    expect(sent.names).toEqual(['y']);
    sent.end();
    await next;
    expect(batches).toHaveLength(2);
  });
});
