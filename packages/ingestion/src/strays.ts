import type { OnStray, StrayObject } from '@sluice/core';
import type { IngestionDeps } from './deps.js';

/** Strays that are held in memory at a time; the next round has those beyond. */
const MOST_HELD = 10_000;

/** Objects deleted per call. */
const SLICE = 500;

/** Ids named in the log: who put them there will want to know. */
const MOST_NAMED = 20;

export interface Strays {
  /** All that a walk came upon. */
  count: Record<StrayObject['collection'], number>;
  /** The first 10,000 of them. */
  held: StrayObject[];
  onStray: OnStray;
}

/** Takes up what a walk finds, in bounded memory. */
export function collectStrays(): Strays {
  const strays: Strays = {
    count: { commits: 0, chunks: 0, pages: 0 },
    held: [],
    onStray(stray) {
      strays.count[stray.collection] += 1;
      if (strays.held.length < MOST_HELD) strays.held.push(stray);
    },
  };
  return strays;
}

export function totalOf({ count }: Strays): number {
  return count.commits + count.chunks + count.pages;
}

/**
 * Deletes what no attempt can have written; gives the number. That needs neither fence nor grace: an attempt makes the ids of what it
 * writes from its document's, so no manifest names such an object now or later, and readers drop it whatever revision it claims to be of.
 */
export async function deleteStrays(deps: Pick<IngestionDeps, 'store' | 'logger'>, { held }: Strays): Promise<number> {
  for (let at = 0; at < held.length; at += SLICE) await deps.store.deleteObjects(held.slice(at, at + SLICE));
  if (held.length > 0) {
    const named = held.slice(0, MOST_NAMED).map(({ collection, id }) => `${collection} ${id}`);
    deps.logger.warn(
      { objects: held.length, named },
      'deleted objects in the store that are of no document: something else wrote them',
    );
  }
  return held.length;
}
