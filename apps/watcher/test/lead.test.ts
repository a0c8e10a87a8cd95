import { hostname } from 'node:os';
import { type Clock, systemClock } from '@sluice/core';
import { silentLogger } from '@sluice/telemetry';
import { afterEach, expect, it, vi } from 'vitest';
import { createLedWatcher, type LedWatcher } from '../src/lead.js';

/** One key as Redis keeps it, without its time. */
function createKey() {
  let leader: string | undefined;
  return {
    control: {
      async lead(holder: string, _ttlMs: number, instead = holder) {
        key.asked++;
        if (key.away) throw new Error('away');
        if (leader === undefined || leader === holder || leader === instead) leader = holder;
        return leader;
      },
      async resign(holder: string) {
        if (leader === holder) leader = undefined;
      },
    },
    away: false,
    asked: 0,
    set: (value: string | undefined) => {
      leader = value;
    },
  };
}
let key = createKey();
const watchers: LedWatcher[] = [];
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };

afterEach(async () => {
  for (const watcher of watchers.splice(0)) await watcher.stop();
  key = createKey();
});

function make(name: string, at: string[], isAlive = (_pid: number) => true): LedWatcher {
  const watcher = createLedWatcher({
    control: key.control,
    clock,
    logger: silentLogger(),
    isAlive,
    make: () => ({
      scans: 0,
      async start() {
        at.push(name);
      },
      async stop() {
        at.splice(at.indexOf(name), 1);
      },
    }),
  });
  watchers.push(watcher);
  return watcher;
}

const elsewhere = JSON.stringify({ host: 'elsewhere', pid: 1, id: 'x' });
const dead = JSON.stringify({ host: hostname(), pid: 4_000_000, id: 'x' });

it('one works; the other takes over when it ends', async () => {
  const at: string[] = [];
  // Two processes, of which each is alive to the other; here they share a pid, so the key is passed on by hand.
  const first = make('a', at);
  await first.start();
  expect(at).toEqual(['a']);
  key.set(elsewhere);
  await vi.waitFor(() => expect(at).toEqual([]));
  key.set(undefined);
  await vi.waitFor(() => expect(at).toEqual(['a']));
  await first.stop();
  expect(at).toEqual([]);
  const second = make('b', at);
  await second.start();
  expect(at).toEqual(['b']);
});

it('takes the place of a process of this machine that is gone at once, of another machine never by force', async () => {
  const at: string[] = [];
  key.set(dead);
  await make('a', at, () => false).start();
  expect(at).toEqual(['a']);
  key.set(elsewhere);
  const waiting = make('b', at, () => false);
  await waiting.start();
  expect(at).not.toContain('b');
  key.set(JSON.stringify({ host: hostname(), pid: 4_000_000, id: 'y' }));
  const patient = make('c', at, () => true);
  await patient.start();
  expect(at).not.toContain('c');
});

it('goes on working while nobody can tell who leads', async () => {
  const at: string[] = [];
  await make('a', at).start();
  key.away = true;
  const before = key.asked;
  await vi.waitFor(() => expect(key.asked).toBeGreaterThan(before + 3));
  expect(at).toEqual(['a']);
  key.away = false;
  key.set('no json');
  await vi.waitFor(() => expect(at).toEqual([]));
});
