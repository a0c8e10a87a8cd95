import { expect, it } from 'vitest';
import { createExclusiveLock, type Entry } from './exclusive-lock.js';

const MANY = { exclusive: false, long: false };
const LONG = { exclusive: false, long: true };
const EXCLUSIVE = { exclusive: true, long: false };

function createOrder() {
  const lock = createExclusiveLock();
  const order: string[] = [];
  const enter = (name: string, options: typeof MANY): Entry => {
    const entry = lock.enter(options);
    void entry.admitted.then(() => order.push(name));
    return entry;
  };
  return { order, enter };
}

it('lets many in together, and one exclusively before those who come later', async () => {
  const { order, enter } = createOrder();
  const a = enter('a', MANY);
  const b = enter('b', MANY);
  const exclusive = enter('exclusive', EXCLUSIVE);
  const late = enter('late', MANY);
  a.leave();
  a.leave();
  await Promise.resolve();
  expect(order).toEqual(['a', 'b']);
  b.leave();
  await exclusive.admitted;
  expect(order).toEqual(['a', 'b', 'exclusive']);
  exclusive.leave();
  await late.admitted;
  late.leave();
  await enter('again', EXCLUSIVE).admitted;
  expect(order).toEqual(['a', 'b', 'exclusive', 'late', 'again']);
});

it('has nobody wait for a long one: short ones pass until the last long one has left, long ones do not', async () => {
  const { order, enter } = createOrder();
  const long = enter('long', LONG);
  const becomesLong = enter('becomes long', MANY);
  const exclusive = enter('exclusive', EXCLUSIVE);
  enter('long behind', LONG);
  const short = enter('short', MANY);
  await short.admitted;
  expect(order).toEqual(['long', 'becomes long', 'short']);
  long.leave();
  const waits = enter('waits', MANY);
  await Promise.resolve();
  expect(order).not.toContain('waits');
  becomesLong.becomeLong();
  await waits.admitted;
  short.leave();
  becomesLong.leave();
  await Promise.resolve();
  expect(order).not.toContain('exclusive');
  waits.leave();
  await exclusive.admitted;
  expect(order).toEqual(['long', 'becomes long', 'short', 'waits', 'exclusive']);
});
