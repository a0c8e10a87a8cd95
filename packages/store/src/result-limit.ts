import { SluiceError } from '@sluice/core';
import type { Graphql } from './graphql.js';
import { anyOf } from './translate-filter.js';

/** More than any server allows; asking for it makes the server name its own limit. */
const PROBE = 1_000_000_000;
const NO_OBJECT = '00000000-0000-0000-0000-000000000000';

/**
 * The most objects one query may return on this server (QUERY_MAXIMUM_RESULTS, 10,000 unless set): asked once. It has to be known, since some
 * queries over it fail and others are cut without a word.
 */
export function createResultLimit(graphql: Graphql, collection: string): () => Promise<number> {
  let limit: Promise<number> | undefined;
  const ask = async () => {
    try {
      await graphql.rows(collection, `limit:${PROBE},where:${anyOf('id', [NO_OBJECT])}`, '_additional{id}');
      return PROBE;
    } catch (error) {
      const named = error instanceof SluiceError ? /QUERY_MAXIMUM_RESULTS '(\d+)'/.exec(error.message)?.[1] : undefined;
      if (named === undefined) throw error;
      return Number(named);
    }
  };
  return () => {
    limit ??= ask().catch((error) => {
      limit = undefined;
      throw error;
    });
    return limit;
  };
}
