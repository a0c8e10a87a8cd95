import { type CommitRecord, type Manifest, SluiceError, type StoredChunk } from '@sluice/core';
import { CHUNK_FIELDS, type ChunkCodec } from './chunk-codec.js';
import type { Row } from './graphql.js';
import { decodeManifest } from './manifest-codec.js';
import { createObjectReads } from './object-reads.js';
import { createdOf, decodeHead, decodeRecord, HEAD_FIELDS, RECORD_FIELDS, type RecordHead } from './record-codec.js';
import { inRuns, type Rows } from './rows.js';
import { and, anyOf, not } from './translate-filter.js';

const IDS_A_REQUEST = 200;
const HASHES_A_REQUEST = 100;
const PAGES_A_REQUEST = 8;

export function createReads(rows: Rows, codec: ChunkCodec) {
  return { ...createRecordReads(rows), ...createChunkReads(rows, codec), ...createObjectReads(rows, codec) };
}

function createRecordReads({ names, byIds, ofCommits }: Rows) {
  return {
    recordsOf: (docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>> =>
      grouped(docUuids, RECORD_FIELDS, decodeRecord),

    headsOf: (docUuids: readonly string[]): Promise<Map<string, RecordHead[]>> => grouped(docUuids, HEAD_FIELDS, decodeHead),

    /** Unix milliseconds, by the store's clock, at which it took the records of these ids. */
    async createdOf(ids: readonly string[]): Promise<Map<string, number>> {
      const rows = await byIds(names.commits, ids, '_additional{id creationTimeUnix}', IDS_A_REQUEST);
      const created = new Map<string, number>();
      for (const [id, row] of rows) {
        const moment = createdOf(row);
        if (moment !== undefined) created.set(id, moment);
      }
      return created;
    },

    async readManifest(record: CommitRecord): Promise<Manifest> {
      if (record.chunks === 0) return { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
      const data = record.pages.length > 0 ? await pagesOf(record) : [record.manifest ?? (await manifestOf(record))];
      return decodeManifest(data).catch((error) => {
        throw damaged(record, error instanceof Error ? error.message : String(error));
      });
    },
  };

  /** Commits of documents, grouped by document. `decode` reads what `fields` asks for. */
  async function grouped<R extends RecordHead>(
    docUuids: readonly string[],
    fields: string,
    decode: (row: Row) => R | undefined,
  ): Promise<Map<string, R[]>> {
    const found = new Map<string, R[]>();
    for (const row of await ofCommits(docUuids, fields)) {
      const record = decode(row);
      if (record !== undefined) pushTo(found, record.doc_uuid, record);
    }
    return found;
  }

  async function pagesOf(record: CommitRecord): Promise<string[]> {
    const rows = await byIds(names.pages, record.pages, 'data _additional{id}', PAGES_A_REQUEST);
    return record.pages.map((id) => {
      const text = rows.get(id)?.data;
      if (typeof text !== 'string') throw damaged(record, `page ${id} is missing`);
      return text;
    });
  }

  /** The manifest that a record carries, for one that was read by a walk. */
  async function manifestOf(record: CommitRecord): Promise<string> {
    const rows = await byIds(names.commits, [record.id], 'manifest _additional{id}', 1);
    const text = rows.get(record.id)?.manifest;
    if (typeof text !== 'string') throw damaged(record, 'its record holds none');
    return text;
  }
}

function createChunkReads({ graphql, names, maxResults, byIds }: Rows, codec: ChunkCodec) {
  return {
    async readChunks(ids: readonly string[], options: { vectors?: boolean } = {}): Promise<StoredChunk[]> {
      const fields = `${CHUNK_FIELDS} _additional{id${options.vectors ? ' vector' : ''}}`;
      const rows = await byIds(names.chunks, ids, fields, IDS_A_REQUEST);
      return ids.flatMap((id) => {
        const row = rows.get(id);
        return (row === undefined ? undefined : codec.decode(row)) ?? [];
      });
    },

    async existingChunks(ids: readonly string[]): Promise<Set<string>> {
      return new Set((await byIds(names.chunks, ids, '_additional{id}', 1_000)).keys());
    },

    async countChunks(docUuid: string, revs: readonly string[], withoutIds: readonly string[]): Promise<number> {
      if (revs.length === 0) return 0;
      const parts = [anyOf('doc_uuid', [docUuid]), anyOf('rev', revs)];
      if (withoutIds.length > 0) parts.push(not(anyOf('id', withoutIds)));
      return graphql.count(names.chunks, and(parts));
    },

    async vectorsByTextHash(textHashes: readonly string[]): Promise<Map<string, Float32Array>> {
      const vectors = new Map<string, Float32Array>();
      for (const run of inRuns([...new Set(textHashes)], HASHES_A_REQUEST)) {
        for (const [hash, vector] of await vectorsOf(run)) vectors.set(hash, vector);
      }
      return vectors;
    },
  };

  /** For each hash the vector of a chunk that has it, if there is one. Mostly there is none: one request says so for all of them. */
  async function vectorsOf(hashes: readonly string[]): Promise<Map<string, Float32Array>> {
    const vectors = new Map<string, Float32Array>();
    const fields = 'text_hash _additional{vector}';
    const limit = Math.min(hashes.length * 2, await maxResults());
    const rows = await graphql.rows(names.chunks, `limit:${limit},where:${anyOf('text_hash', hashes)}`, fields);
    note(rows);
    const rest = hashes.filter((hash) => !vectors.has(hash));
    if (rows.length < limit || rest.length === 0) return vectors;
    // A text that occurs a thousand times has crowded out others: a query for each of those, in one request.
    const query = rest.map((hash, i) => `h${i}:${names.chunks}(limit:1,where:${anyOf('text_hash', [hash])}){${fields}}`);
    note(Object.values(await graphql.get(query.join(' '))).flat());
    return vectors;

    function note(found: readonly Row[]): void {
      for (const { text_hash: hash, _additional } of found) {
        const vector = _additional?.vector;
        if (typeof hash === 'string' && vector != null && vector.length > 0) vectors.set(hash, Float32Array.from(vector));
      }
    }
  }
}

function damaged(record: CommitRecord, what: string): SluiceError {
  return new SluiceError('store_rejected', `the manifest of ${record.doc_id} can't be read: ${what}`, { docId: record.doc_id });
}

function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
