import {
  type ChunkStore,
  type Clock,
  type CommitRecord,
  type FieldType,
  objectUuid,
  SluiceError,
  systemClock,
} from '@sluice/core';
import { BUILT_IN_FIELDS } from '@sluice/metadata';
import type { Logger, Metrics } from '@sluice/telemetry';
import { createChunkCodec } from './chunk-codec.js';
import { createGraphql } from './graphql.js';
import { createHttp } from './http.js';
import { encodeManifest } from './manifest-codec.js';
import { collectionNames } from './names.js';
import { createObjectWriter, newObject, removeObjects } from './objects.js';
import { createRawSearch } from './raw-search.js';
import { createReads } from './reads.js';
import { encodeRecord } from './record-codec.js';
import { createResultLimit } from './result-limit.js';
import { createRows } from './rows.js';
import { checkCollections, checkServer, checkVersion, describeCollections, ensureCollections } from './schema.js';
import { filterProperties } from './translate-filter.js';
import { createVisibleSearch } from './visible-search.js';
import type { VisibleSearchDeps } from './visible-search-deps.js';

export interface StoreOptions {
  /** Weaviate's HTTP address, as `http://127.0.0.1:8080`. Nothing else of it is used. */
  url: string;
  /** Key of a Weaviate that wants one. */
  apiKey?: string | undefined;
  /** Prefix of this instance's collections. */
  namespace: string;
  /** Key of the embedding model: each has collections of its own. */
  collection: string;
  /** Length of its vectors. */
  dimensions: number;
  /** Declared fields, by name. */
  fields?: Readonly<Record<string, FieldType>>;
  /** Milliseconds that superseded objects stay; default 10,000. */
  readerGraceMs?: number;
  /** Milliseconds that the store's clock may be off ours; default 1,000. */
  clockSkewMs?: number;
  clock?: Clock;
  logger?: Logger;
  metrics?: Pick<Metrics, 'objectsWritten' | 'objectsDeleted'>;
  /** For tests that show what the reader's rules are for. */
  readerRules?: VisibleSearchDeps['rules'];
}

/**
 * Characters of an encoded manifest that travels in its record: about 25 chunks. An object costs the server a millisecond and its reader a
 * request, while a record is read a few times an attempt.
 */
const SMALL_MANIFEST = 4_000;

/** The store on a real Weaviate. */
export function createStore(options: StoreOptions): ChunkStore {
  const names = collectionNames(options.namespace, options.collection);
  const properties = filterProperties(options.fields ?? {});
  const http = createHttp(options.url, options.apiKey);
  const graphql = createGraphql(http);
  const codec = createChunkCodec(properties);
  const maxResults = createResultLimit(graphql, names.commits);
  const onInserted = (count: number) => options.metrics?.objectsWritten.inc(count);
  // Chunks and pages share batches. Commits never travel with them: a batch becomes visible object by object.
  const content = createObjectWriter({ http, onInserted });
  const commits = createObjectWriter({ http, onInserted });
  const reads = createReads(createRows({ graphql, names, maxResults }), codec);
  const search = createVisibleSearch({
    rawSearch: createRawSearch({ graphql, collection: names.chunks, properties, dimensions: options.dimensions, maxResults }),
    headsOf: reads.headsOf,
    createdOf: reads.createdOf,
    recordsOf: reads.recordsOf,
    readChunks: reads.readChunks,
    clock: options.clock ?? systemClock,
    graceMs: options.readerGraceMs ?? 10_000,
    skewMs: options.clockSkewMs ?? 1_000,
    ...(options.readerRules === undefined ? {} : { rules: options.readerRules }),
  });

  const collections = describeCollections(names, properties, new Set(Object.keys(BUILT_IN_FIELDS)));
  const { headsOf: _headsOf, createdOf: _createdOf, ...portReads } = reads;

  return {
    ...portReads,
    search,

    async ensureSchema() {
      await checkVersion(http, options.logger);
      await ensureCollections(http, collections);
    },

    checkSchema: () => checkCollections(http, collections),

    checkReady: () => checkServer(http, [names.chunks, names.commits, names.pages], options.logger),

    async insertChunks(chunks) {
      for (const chunk of chunks) {
        if (chunk.vector.length === options.dimensions) continue;
        throw new SluiceError(
          'store_rejected',
          `a chunk of ${chunk.doc_id} (${chunk.id}) has a vector of ${chunk.vector.length} dimensions, not ${options.dimensions}`,
          { docId: chunk.doc_id, details: { id: chunk.id } },
        );
      }
      await content.insert(
        chunks.map((chunk) =>
          newObject(names.chunks, { id: chunk.id, docId: chunk.doc_id, properties: codec.encode(chunk), vector: chunk.vector }),
        ),
      );
    },

    async insertManifest(owner, manifest) {
      const data = await encodeManifest(manifest);
      const [only] = data;
      if (data.length === 1 && only !== undefined && only.length <= SMALL_MANIFEST) return { pages: [], manifest: only };
      const pages = data.map((text, n) => ({
        id: objectUuid(owner.doc_uuid, 'page', owner.attempt, n),
        docId: owner.doc_id,
        properties: { doc_id: owner.doc_id, doc_uuid: owner.doc_uuid, attempt: owner.attempt, fence: owner.fence, data: text },
      }));
      await content.insert(pages.map((page) => newObject(names.pages, page)));
      return { pages: pages.map((page) => page.id) };
    },

    insertRecord: (record: CommitRecord) =>
      commits.insert([newObject(names.commits, { id: record.id, docId: record.doc_id, properties: encodeRecord(record) })]),

    async deleteObjects(doomed) {
      let removed = 0;
      for (const collection of ['chunks', 'pages', 'commits'] as const) {
        const ids = doomed.filter((object) => object.collection === collection).map((object) => object.id);
        if (ids.length > 0) removed += await removeObjects(http, maxResults, names[collection], ids);
      }
      if (removed > 0) options.metrics?.objectsDeleted.inc(removed);
    },

    async close() {
      http.close();
    },
  };
}
