import type { StrayObject } from '@sluice/core';
import type { IngestionDeps } from './deps.js';

/** Objects deleted per call. */
const SLICE = 500;

/** Ids named in the log: who put them there will want to know. */
const MOST_NAMED = 20;

/**
 * Deletes what no attempt can have written. That needs neither fence nor grace: an attempt makes the ids of what it writes from its
 * document's, so no manifest names such an object now or later, and readers drop it whatever revision it claims to be of.
 */
export async function deleteStrays(deps: Pick<IngestionDeps, 'store' | 'logger'>, strays: readonly StrayObject[]): Promise<void> {
  for (let at = 0; at < strays.length; at += SLICE) await deps.store.deleteObjects(strays.slice(at, at + SLICE));
  if (strays.length > 0) {
    const named = strays.slice(0, MOST_NAMED).map(({ collection, id }) => `${collection} ${id}`);
    deps.logger.warn(
      { objects: strays.length, named },
      'deleted objects in the store that are of no document: something else wrote them',
    );
  }
}
