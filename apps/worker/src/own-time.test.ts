import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitOwnTime } from './own-time.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('counts what passes while nobody is waited for', () => {
  const onSpent = vi.fn();
  const own = limitOwnTime(1_000, onSpent);
  vi.advanceTimersByTime(400);
  const first = own.waits();
  vi.advanceTimersByTime(60_000);
  const second = own.waits();
  first.done();
  first.done();
  vi.advanceTimersByTime(60_000);
  second.done();
  vi.advanceTimersByTime(599);
  expect(onSpent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(onSpent).toHaveBeenCalledOnce();
});

it.each([false, true])('is over once it is stopped, also while waiting: %s', (waiting) => {
  const onSpent = vi.fn();
  const own = limitOwnTime(1_000, onSpent);
  const wait = waiting ? own.waits() : undefined;
  own.stop();
  wait?.done();
  vi.advanceTimersByTime(10_000);
  expect(onSpent).not.toHaveBeenCalled();
});
