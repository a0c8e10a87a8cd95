import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, systemClock } from '@sluice/core';
import { createControl, createRedis } from '@sluice/queues';
import { silentLogger } from '@sluice/telemetry';
import { testServices, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { createLedWatcher, LEAD_MS, type LedWatcher } from '../src/lead.js';

const redis = createRedis({ url: testServices().redis, role: 'producer' });
let namespace = '';
let away = false;
let asked = 0;
/** Called when a lead was given up. */
let onResigned: (() => Promise<void>) | undefined;
const watchers: LedWatcher[] = [];
const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };

const key = () => `${namespace}:control:leader`;
/** Makes another the leader, or nobody. */
async function set(leader: string | undefined): Promise<void> {
  if (leader === undefined) await redis.del(key());
  else await redis.set(key(), leader, 'PX', LEAD_MS);
}

beforeEach(() => {
  namespace = `test-${randomUUID()}`;
  away = false;
  asked = 0;
});
afterEach(async () => {
  onResigned = undefined;
  for (const watcher of watchers.splice(0)) await watcher.stop();
  await set(undefined);
});
afterAll(() => redis.disconnect());

interface Work {
  start?(): Promise<void>;
  stop?(): Promise<void>;
}

/** @param at names of those that work */
function make(name: string, at: string[], isAlive = (_pid: number) => true, work: Work = {}): LedWatcher {
  const control = createControl({ redis, namespace });
  const watcher = createLedWatcher({
    control: {
      async lead(...args) {
        asked++;
        if (away) throw new Error('away');
        return control.lead(...args);
      },
      async resign(holder) {
        await control.resign(holder);
        await onResigned?.();
      },
    },
    clock,
    logger: silentLogger(),
    isAlive,
    make: () => ({
      scans: 0,
      async start() {
        at.push(name);
        await work.start?.();
      },
      async stop() {
        at.splice(at.indexOf(name), 1);
        await work.stop?.();
      },
    }),
  });
  watchers.push(watcher);
  return watcher;
}

function promise(): { promise: Promise<void>; resolve(): void; reject(error: unknown): void } {
  let resolve = () => {};
  let reject: (error: unknown) => void = () => {};
  const made = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise: made, resolve, reject };
}

const elsewhere = JSON.stringify({ host: 'elsewhere', pid: 1, id: 'x' });
const dead = JSON.stringify({ host: hostname(), pid: 4_000_000, id: 'x' });

/** Resolves when the lead was renewed after this call: the time that is left of it only ever falls otherwise. */
async function renewed(): Promise<void> {
  let left = await redis.pttl(key());
  for (;;) {
    const now = await redis.pttl(key());
    if (now < 0) throw new Error('nobody leads');
    if (now > left) return;
    left = now;
    await systemClock.sleep(2);
  }
}

it('one works; the other takes over when it ends', async () => {
  const at: string[] = [];
  // Two processes, of which each is alive to the other; here they share a pid, so the key is passed on by hand.
  const first = make('a', at);
  await first.start();
  expect(at).toEqual(['a']);
  await set(elsewhere);
  await until(() => expect(at).toEqual([]));
  await set(undefined);
  await until(() => expect(at).toEqual(['a']));
  await first.stop();
  expect(at).toEqual([]);
  const second = make('b', at);
  await second.start();
  expect(at).toEqual(['b']);
});

it('takes the place of a process of this machine that is gone at once, of another machine never by force', async () => {
  const at: string[] = [];
  await set(dead);
  await make('a', at, () => false).start();
  expect(at).toEqual(['a']);
  await set(elsewhere);
  const waiting = make('b', at, () => false);
  await waiting.start();
  expect(at).not.toContain('b');
  await set(JSON.stringify({ host: hostname(), pid: 4_000_000, id: 'y' }));
  const patient = make('c', at, () => true);
  await patient.start();
  expect(at).not.toContain('c');
});

it('goes on working while nobody can tell who leads', async () => {
  const at: string[] = [];
  await make('a', at).start();
  away = true;
  const before = asked;
  await until(() => expect(asked).toBeGreaterThan(before + 3));
  expect(at).toEqual(['a']);
  away = false;
  await set('no json');
  await until(() => expect(at).toEqual([]));
});

it.each(['at the start', 'at a takeover'])('keeps the lead while it begins and while it ends, however long: %s', async (when) => {
  const at: string[] = [];
  const begins = promise();
  const ends = promise();
  const watcher = make('a', at, undefined, { start: () => begins.promise, stop: () => ends.promise });
  if (when === 'at a takeover') await set(elsewhere);
  const started = watcher.start();
  if (when === 'at a takeover') await started.then(() => set(undefined));
  await until(() => expect(at).toEqual(['a']));
  await renewed();
  await renewed();
  expect(at).toEqual(['a']);
  begins.resolve();
  await started;

  // It ends because another leads, and leads again before it has ended: one begins when the other is done.
  await set(elsewhere);
  await until(() => expect(at).toEqual([]));
  await set(undefined);
  await until(async () => expect(await redis.get(key())).toContain(hostname()));
  await renewed();
  expect(at).toEqual([]);
  ends.resolve();
  await until(() => expect(at).toEqual(['a']));
});

it('ends what only begins when another leads, and begins again when that one ends', async () => {
  const at: string[] = [];
  const begins = promise();
  const started = make('a', at, undefined, { start: () => begins.promise }).start();
  await until(() => expect(at).toEqual(['a']));
  await set(elsewhere);
  await until(() => expect(at).toEqual([]));
  // What is given up may fail of that.
  begins.reject(new Error('stopped'));
  await started;
  expect(await redis.get(key())).toBe(elsewhere);
  expect(at).toEqual([]);
});

it('a start that fails at a takeover gives up the lead, so that another may have it, and is tried again', async () => {
  const at: string[] = [];
  let fails = true;
  let tries = 0;
  await set(elsewhere);
  const watcher = make('a', at, undefined, {
    async start() {
      tries++;
      if (fails) throw new Error('no watches');
    },
  });
  await watcher.start();
  onResigned = async () => {
    onResigned = undefined;
    await set(elsewhere);
  };
  await set(undefined);
  await until(async () => expect(await redis.get(key())).toBe(elsewhere));
  expect(at).toEqual([]);
  const before = tries;
  await set(undefined);
  await until(() => expect(tries).toBeGreaterThan(before + 1));
  fails = false;
  await until(() => expect(at).toEqual(['a']));
});

it('a first start that fails is told, and leads no more', async () => {
  const at: string[] = [];
  const watcher = make('a', at, undefined, { start: () => Promise.reject(new Error('no watches')) });
  await expect(watcher.start()).rejects.toThrow('no watches');
  expect(at).toEqual([]);
  await watcher.stop();
  expect(await redis.exists(key())).toBe(0);
});
