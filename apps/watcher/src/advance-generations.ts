import type { InstanceGenerations } from '@sluice/config';
import type { Clock } from '@sluice/core';
import { compareIndexes } from '@sluice/ingestion';
import { expire, type Generation, type Generations, switchToNext } from '@sluice/models';
import { createControl, createReconcileQueue } from '@sluice/queues';
import { createStore } from '@sluice/store';
import type { GenerationDeps } from './generation.js';

/** Between two comparisons of an index that is built with the live one, ms. */
const COMPARE_EVERY_MS = 5000;

/** Scans of the generation that is being built which must be answered before it may be live. */
interface Awaited {
  collection: string;
  scans: Map<string, number>;
}

/**
 * Makes a generation live once its scans are done, its jobs are done, and each document stands in it as in the live one; gives up the
 * one before after its time; removes what nobody wants any more. Every watcher may call it: of two that write only one succeeds.
 */
export function advanceGenerations(deps: GenerationDeps & { generations: InstanceGenerations; clock: Clock }) {
  const { config, services, redis, logger, generations, clock } = deps;
  let awaited: Awaited | undefined;
  let comparedAt = Number.NEGATIVE_INFINITY;

  const namespaceOf = (generation: Generation) => config.runtime.namespace + generation.queue;
  const sources = config.sources.map(({ name }) => name);

  async function isQuiet(next: Generation): Promise<boolean> {
    const control = createControl({ redis, namespace: namespaceOf(next) });
    if (awaited?.collection !== next.collection) {
      const scans = new Map<string, number>();
      for (const source of sources) scans.set(source, await control.requestScan(source));
      awaited = { collection: next.collection, scans };
    }
    for (const [source, number] of awaited.scans) if ((await control.scannedUpTo(source)) < number) return false;
    const queue = createReconcileQueue({ redis, namespace: namespaceOf(next), settings: config.queue });
    try {
      return await queue.isIdle();
    } finally {
      await queue.close();
    }
  }

  function openRecords({ collection }: Generation) {
    const { url, apiKey } = { url: services.weaviateUrl, apiKey: services.weaviateApiKey };
    return createStore({
      url,
      apiKey,
      namespace: config.runtime.namespace,
      collection,
      dimensions: 0,
      fields: config.schema.fields,
    });
  }

  async function isComplete(live: Generation, next: Generation): Promise<boolean> {
    if (!(await isQuiet(next)) || clock.monotonic() - comparedAt < COMPARE_EVERY_MS) return false;
    comparedAt = clock.monotonic();
    const [one, other] = [openRecords(live), openRecords(next)];
    try {
      const { documents, same, failed, examples } = await compareIndexes(one, other);
      if (documents === same) return true;
      logger.warn({ model: next.model, documents, same, failed, examples }, 'the new index differs from the live one: it waits');
      // Whatever differs is looked at again.
      awaited = undefined;
      return false;
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  }

  async function remove(generation: Generation): Promise<void> {
    const present = new Set(await generations.store.collections());
    await generations.store.drop(generations.store.namesOf(generation.collection).filter((name) => present.has(name)));
    // The namespace without an addition holds keys of the whole instance, too.
    if (generation.queue !== '') {
      const queue = createReconcileQueue({ redis, namespace: namespaceOf(generation), settings: config.queue });
      await queue.removeAll().finally(() => queue.close());
    }
    logger.info({ model: generation.model, collection: generation.collection }, 'an index that is no longer wanted was removed');
  }

  return async (seen: Generations): Promise<void> => {
    const now = clock.now();
    const due = seen.doomed.filter((one) => one.after <= now);
    const expires = expire(now, seen) !== seen;
    const completes = seen.next !== undefined && (await isComplete(seen.live, seen.next));
    if (due.length === 0 && !expires && !completes) return;

    const { version, state } = await generations.read();
    if (completes && state.next?.collection === seen.next?.collection) {
      await generations.write(version, switchToNext(now, state, config.store.keepPreviousMs));
      logger.info({ model: seen.next?.model, before: seen.live.model }, 'another model answers from now on');
      return;
    }
    if (expires) return generations.write(version, expire(now, state));
    for (const one of due) await remove(one);
    await generations.write(version, { ...state, doomed: state.doomed.filter((one) => one.after > now) });
  };
}
