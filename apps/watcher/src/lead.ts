import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '@sluice/core';
import type { Control } from '@sluice/queues';
import type { Logger } from '@sluice/telemetry';
import { z } from 'zod';
import type { WatcherApp } from './app.js';

/** A leader that is silent for so long has lost its place: the longest time until another watcher takes over. */
export const LEAD_MS = 10_000;
const RENEW_MS = 1000;

const holderSchema = z.object({ host: z.string(), pid: z.int(), id: z.string() });

export interface LedWatcher {
  /** Resolves when this process works, or waits because another does. Rejects when it should work and cannot: stop it then. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Of several watchers of an instance lets one work; the others wait. One that ends in order is followed at once, one that was killed on
 * this machine at once too, any other after ten seconds. That two may work for a moment does no harm: a job names a path.
 *
 * @param make makes the watcher again each time this process begins to lead
 */
export function createLedWatcher(options: {
  control: Pick<Control, 'lead' | 'resign'>;
  clock: Clock;
  logger: Logger;
  make(): WatcherApp;
  /** For tests: whether a process of this machine runs. */
  isAlive?: (pid: number) => boolean;
}): LedWatcher {
  const { control, clock, logger, isAlive = processIsAlive } = options;
  const holder = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
  const stopping = new AbortController();
  let working: WatcherApp | undefined;
  let ending: Promise<void> | undefined;
  let waits = false;
  let loop: Promise<void> | undefined;

  /** True when this process leads; undefined when nobody can tell, with the queue away. */
  async function ask(): Promise<boolean | undefined> {
    try {
      const leader = await control.lead(holder, LEAD_MS);
      if (leader === holder) return true;
      return isGone(leader) && (await control.lead(holder, LEAD_MS, leader)) === holder;
    } catch {
      return undefined;
    }
  }

  function isGone(leader: string): boolean {
    const { host, pid } = holderSchema.safeParse(parseJson(leader)).data ?? {};
    // This very number with another id is a former life of this process, as of the first one in a container.
    return host === hostname() && pid !== undefined && (pid === process.pid || !isAlive(pid));
  }

  /** Works until end() is called. A start that fails gives up the lead, so that another may try, and this process again. */
  async function begin(): Promise<void> {
    const app = options.make();
    working = app;
    try {
      await app.start();
    } catch (error) {
      // Whoever ended it meanwhile has done the rest.
      if (working !== app || ending !== undefined) return;
      await end().catch(() => undefined);
      await control.resign(holder).catch(() => undefined);
      throw error;
    }
  }

  /** Ends the work, also while it only begins. */
  function end(): Promise<void> {
    ending ??= Promise.resolve(working?.stop()).finally(() => {
      working = undefined;
      ending = undefined;
    });
    return ending;
  }

  /** Renews the lead, or asks for it. Returns what is to be done now: that may take long, and the lead is to be renewed meanwhile. */
  async function renew(): Promise<(() => Promise<void>) | undefined> {
    const leads = await ask();
    if (leads === undefined || stopping.signal.aborted) return undefined;
    if (!leads && !waits) {
      logger.info({}, 'another watcher of this instance is at work; this one takes over when that one ends');
    }
    waits = !leads;
    if (leads) return working === undefined ? begin : undefined;
    return working === undefined ? undefined : end;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(RENEW_MS, stopping.signal).catch(() => undefined);
      const turn = stopping.signal.aborted ? undefined : await renew();
      turn?.().catch((error: unknown) => logger.warn({ err: error }, 'the watcher could not begin or end; it tries again'));
    }
  }

  return {
    async start() {
      const turn = await renew();
      loop = run();
      await turn?.();
    },
    async stop() {
      stopping.abort(new Error('stopped'));
      await loop;
      await end();
      await control.resign(holder).catch(() => undefined);
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function processIsAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
