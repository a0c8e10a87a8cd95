import { expect, it } from 'vitest';
import { createGate } from './gate.js';

it('lets many in together, and one alone before those who come later', async () => {
  const gate = createGate();
  const order: string[] = [];
  const enter = (name: string, alone: boolean) =>
    gate.enter(alone).then((leave) => {
      order.push(name);
      return leave;
    });
  const a = await enter('a', false);
  const b = await enter('b', false);
  const alone = enter('alone', true);
  const late = enter('late', false);
  a();
  a();
  await Promise.resolve();
  expect(order).toEqual(['a', 'b']);
  b();
  const leaveAlone = await alone;
  expect(order).toEqual(['a', 'b', 'alone']);
  leaveAlone();
  (await late)();
  (await enter('again', true))();
  expect(order).toEqual(['a', 'b', 'alone', 'late', 'again']);
});
