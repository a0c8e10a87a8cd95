import { documentPrefix, isOfDocument } from '@sluice/core';
import type { Graphql, Row } from './graphql.js';
import type { CollectionNames } from './names.js';
import { anyOf } from './translate-filter.js';
import { createWalk, type Walk } from './walk.js';

export interface RowsOptions {
  graphql: Graphql;
  names: CollectionNames;
  maxResults: () => Promise<number>;
}

/** Rows of the store as they lie there, by what names them. No answer is cut by the server's limit. */
export interface Rows extends RowsOptions {
  walk: Walk;
  /** Rows of one document: its objects' ids begin alike, so they lie together in uuid order. No filter is needed. */
  ofDocument(collection: string, docUuid: string, fields: string): AsyncGenerator<Row[]>;
  /** Rows by their ids; `fields` must ask for the id. At most `perRequest` of them are asked for in one request. */
  byIds(collection: string, ids: readonly string[], fields: string, perRequest: number): Promise<Map<string, Row>>;
  /** Rows of all commits of the documents. */
  ofCommits(docUuids: readonly string[], fields: string): Promise<Row[]>;
}

/** Two requests of 50 documents cost the server a third more than one of 100. */
const DOCUMENTS_A_REQUEST = 200;
const RECORDS_A_REQUEST = 1_000;
/** Most documents have a few objects in each collection. */
const DOCUMENT_PAGES = { first: 8, size: 500 };

export function createRows(options: RowsOptions): Rows {
  const { graphql, names, maxResults } = options;
  const walk = createWalk(graphql, maxResults);
  return { ...options, walk, ofDocument, byIds, ofCommits };

  async function ofCommits(docUuids: readonly string[], fields: string): Promise<Row[]> {
    const runs = inRuns([...new Set(docUuids)], DOCUMENTS_A_REQUEST);
    return (await Promise.all(runs.map((run) => commitRows(run, fields)))).flat();
  }

  async function commitRows(docUuids: readonly string[], fields: string): Promise<Row[]> {
    const limit = Math.min(RECORDS_A_REQUEST, await maxResults());
    const rows = await graphql.rows(names.commits, `limit:${limit},where:${anyOf('doc_uuid', docUuids)}`, fields);
    // A full answer may have been cut: ask for fewer documents, for a single one by a walk, which no limit cuts.
    if (rows.length < limit) return rows;
    const [only] = docUuids;
    if (docUuids.length === 1 && only !== undefined) return collect(ofDocument(names.commits, only, fields));
    const half = docUuids.length >> 1;
    return (await Promise.all([commitRows(docUuids.slice(0, half), fields), commitRows(docUuids.slice(half), fields)])).flat();
  }

  async function* ofDocument(collection: string, docUuid: string, fields: string): AsyncGenerator<Row[]> {
    for await (const rows of walk(collection, fields, { ...DOCUMENT_PAGES, after: beforeDocument(docUuid) })) {
      const own = rows.filter((row) => isOfDocument(row._additional?.id ?? '', docUuid));
      if (own.length > 0) yield own;
      if (own.length < rows.length) return;
    }
  }

  async function byIds(
    collection: string,
    ids: readonly string[],
    fields: string,
    perRequest: number,
  ): Promise<Map<string, Row>> {
    const size = Math.min(perRequest, await maxResults());
    const found = new Map<string, Row>();
    const parts = await Promise.all(
      inRuns([...new Set(ids)], size).map((run) =>
        graphql.rows(collection, `limit:${run.length},where:${anyOf('id', run)}`, fields),
      ),
    );
    for (const row of parts.flat()) if (row._additional?.id !== undefined) found.set(row._additional.id, row);
    return found;
  }
}

/** A uuid in front of every object of a document; the cursor excludes it, and no object has it, for its variant bits are no uuid's. */
function beforeDocument(docUuid: string): string {
  return `${documentPrefix(docUuid)}-0000-000000000000`;
}

/** Parts of at most `size` items. */
export function inRuns<T>(items: readonly T[], size: number): T[][] {
  const runs: T[][] = [];
  for (let from = 0; from < items.length; from += size) runs.push(items.slice(from, from + size));
  return runs;
}

async function collect(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pages) rows.push(...page);
  return rows;
}
