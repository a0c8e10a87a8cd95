import type { Filter } from '@sluice/core';
import { createGraphql } from '../src/graphql.js';
import { createHttp } from '../src/http.js';
import { collectionNames } from '../src/names.js';
import type { StoreOptions } from '../src/store.js';
import { filterProperties, translateFilter } from '../src/translate-filter.js';

/** Ids of the chunks that Weaviate finds for a filter, by the filter alone. */
export function matchingIds(options: StoreOptions): (filter: Filter) => Promise<string[]> {
  const graphql = createGraphql(createHttp(options.url));
  const collection = collectionNames(options.namespace, options.collection).chunks;
  const properties = filterProperties(options.fields ?? {});
  return async (filter) => {
    const rows = await graphql.rows(collection, `limit:1000,where:${translateFilter(filter, properties)}`, '_additional{id}');
    return rows.map((row) => row._additional?.id ?? '');
  };
}
