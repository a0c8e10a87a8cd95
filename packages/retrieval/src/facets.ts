import { type Caller, type ChunkStore, type Filter, SluiceError, topCommit } from '@sluice/core';
import { evaluateFilter, type FieldCatalog } from '@sluice/metadata';
import { names, OF_CHUNKS, type Values, valuesOf } from './document-filter.js';
import { mayKnow } from './may-know.js';
import type { ScoredPassage } from './rerank.js';
import type { Facets } from './types.js';

/** Most values of a facet. */
const MAX_VALUES = 100;

/** Counts the documents that have each value of some fields. */
export interface FacetCounter {
  add(values: Values): void;
  facets(): Facets;
}

/** @throws SluiceError `invalid_request` for a field that no filter could name */
export function createFacetCounter(fields: readonly string[], catalog: FieldCatalog): FacetCounter {
  const counts = new Map<string, Map<string | number | boolean, number>>();
  const known = [...catalog.keys()].filter((name) => name !== OF_CHUNKS);
  for (const field of fields) {
    if (!known.includes(field)) {
      throw new SluiceError(
        'invalid_request',
        `facets: no field ${JSON.stringify(field)} of documents. Fields: ${known.join(', ')}`,
      );
    }
    counts.set(field, new Map());
  }
  return {
    add(values) {
      for (const [field, counted] of counts) {
        const value = Object.hasOwn(values, field) ? values[field] : undefined;
        for (const one of new Set([value ?? []].flat())) counted.set(one, (counted.get(one) ?? 0) + 1);
      }
    },
    facets() {
      const most = ([a, m]: [unknown, number], [b, n]: [unknown, number]) => n - m || (String(a) < String(b) ? -1 : 1);
      const listed = (counted: Map<string | number | boolean, number>) =>
        [...counted]
          .sort(most)
          .slice(0, MAX_VALUES)
          .map(([value, count]) => ({ value, count }));
      return Object.fromEntries([...counts].map(([field, counted]) => [field, listed(counted)]));
    },
  };
}

/**
 * Counts every document that is served, within the filter and what the caller may know of. One read of the records, none of chunks.
 * @throws SluiceError `invalid_request` for a filter by `kind`, which belongs to chunks
 */
export async function countDocuments(
  counter: FacetCounter,
  { store, filter, caller }: { store: ChunkStore; filter: Filter; caller: Caller },
): Promise<void> {
  if (names(filter, OF_CHUNKS)) {
    const advice = 'leave facets out, leave kind out of the filter, or ask for "mode": "keyword"';
    throw new SluiceError(
      'invalid_request',
      `facets: count documents, and the filter names kind, which belongs to chunks: ${advice}.`,
    );
  }
  for await (const records of store.walkRecords()) {
    const commit = topCommit(records);
    if (commit === undefined || commit.chunks === 0 || !mayKnow(caller, records)) continue;
    const values = valuesOf(commit.metadata, commit);
    if (evaluateFilter(filter, values)) counter.add(values);
  }
}

/** Counts the documents of what a search found. */
export function countFound(counter: FacetCounter, found: readonly ScoredPassage[]): void {
  const seen = new Set<string>();
  for (const { passage } of found) {
    const { chunk, commit } = passage.hit;
    if (seen.has(chunk.doc_id)) continue;
    seen.add(chunk.doc_id);
    counter.add(valuesOf(commit.metadata, chunk));
  }
}
