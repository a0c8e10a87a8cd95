import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { followingGenerations, type Generation, type Generations } from './generations.js';

const POLL_MS = 1000;
/** After a generation could not be started. */
const RETRY_MS = 15_000;

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What works for one generation in a process. */
export interface GenerationWork {
  stop(): Promise<void>;
}

interface KeepGenerationsOptions {
  read(): Promise<Generations>;
  /** @param isLive the others yield to the live one */
  start(generation: Generation, isLive: boolean): Promise<GenerationWork>;
  /** Called after each reading. */
  onRead?: (state: Generations) => Promise<void>;
  clock: Clock;
  logger: Logger;
}

/** Keeps work going for each generation that follows the disk: begins it, ends it, and begins it again when another one becomes live. */
export function keepGenerations(options: KeepGenerationsOptions) {
  const { clock, logger } = options;
  const stopping = new AbortController();
  const works = new Map<string, { generation: Generation; isLive: boolean; work: Promise<GenerationWork | undefined> }>();
  const failedAt = new Map<string, number>();
  let loop: Promise<void> | undefined;

  async function end(collection: string): Promise<void> {
    const known = works.get(collection);
    works.delete(collection);
    await (await known?.work)?.stop();
  }

  async function follow(state: Generations): Promise<void> {
    const wanted = followingGenerations(state);
    for (const [collection, { generation, isLive }] of works) {
      const same = wanted.find((one) => one.collection === collection);
      const stays =
        same !== undefined && isDeepStrictEqual(same, generation) && isLive === (same.collection === state.live.collection);
      if (!stays) await end(collection);
    }
    for (const generation of wanted) {
      const { collection, model } = generation;
      const isLive = collection === state.live.collection;
      if (works.has(collection) || clock.monotonic() - (failedAt.get(collection) ?? -RETRY_MS) < RETRY_MS) continue;
      logger.info({ model, collection, live: isLive }, 'a model is followed');
      const work = options.start(generation, isLive).catch((cause: unknown) => {
        logger.error({ model, collection, cause: messageOf(cause) }, 'a model can not be used');
        failedAt.set(collection, clock.monotonic());
        works.delete(collection);
        return undefined;
      });
      works.set(collection, { generation, isLive, work });
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(POLL_MS, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        const state = await options.read();
        await follow(state);
        await options.onRead?.(state);
      } catch (cause) {
        logger.debug({ cause: messageOf(cause) }, 'the models of this instance could not be looked at');
      }
    }
  }

  return {
    /** Starts the live generation; rejects with the reason where that can't be. The others follow. */
    async start(): Promise<void> {
      const state = await options.read();
      const [live] = followingGenerations(state);
      if (live === undefined) return;
      const work = await options.start(live, true);
      works.set(live.collection, { generation: live, isLive: true, work: Promise.resolve(work) });
      loop = run();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await loop;
      await Promise.all([...works.keys()].map(end));
    },
  };
}
