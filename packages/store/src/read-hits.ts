import type { CommitRecord, SearchHit, SearchRequest, StoredChunk } from '@sluice/core';
import { type FusedHit, fuse, type RawPool } from './fusion.js';
import type { Known } from './judge-documents.js';
import type { VisibleSearchDeps } from './visible-search-deps.js';

type ContentReads = Pick<VisibleSearchDeps, 'readChunks' | 'recordsOf'>;

/** Thrown inside a search to begin it again: what was read is too old, or went away. */
export class Stale extends Error {}

/** What hits consist of, by id of chunk and of document. */
export interface Contents {
  chunks: Map<string, StoredChunk>;
  records: Map<string, CommitRecord[]>;
}

/** Contents of the hits that would be the best if all of `pool` were live. What fails here is read again when it is needed, and reported then. */
export function readEarly(deps: ContentReads, pool: RawPool, request: SearchRequest): Promise<Contents> {
  const best = inOrder(fuse(pool, request), new Map()).slice(0, request.limit);
  const docUuids = [...new Set(best.map((hit) => hit.doc_uuid))];
  return readContents(
    deps,
    best.map((hit) => hit.id),
    docUuids,
  ).catch(() => ({ chunks: new Map(), records: new Map() }));
}

/**
 * The hits with their chunks and commits.
 *
 * @param early what was read of them already
 * @param mayLack false: a hit whose document has no commit is an error, else it is left out
 * @throws Stale when a chunk or a commit went away
 */
export async function readHits(
  deps: ContentReads,
  best: readonly FusedHit[],
  { known, early, mayLack }: { known: ReadonlyMap<string, Known>; early: Contents; mayLack: boolean },
): Promise<SearchHit[]> {
  const { chunks, records } = early;
  const commitOf = (hit: FusedHit) => {
    const id = known.get(hit.doc_uuid)?.head?.id;
    return records.get(hit.doc_uuid)?.find((record) => record.id === id);
  };
  const missing = best.filter((hit) => !chunks.has(hit.id)).map((hit) => hit.id);
  const unread = best.filter((hit) => commitOf(hit) === undefined).map((hit) => hit.doc_uuid);
  const more = await readContents(deps, missing, [...new Set(unread)]);
  for (const [id, chunk] of more.chunks) chunks.set(id, chunk);
  for (const [docUuid, list] of more.records) records.set(docUuid, list);
  return best.flatMap((hit) => {
    const chunk = chunks.get(hit.id);
    const commit = commitOf(hit);
    if (mayLack && commit === undefined) return [];
    if (chunk === undefined || commit === undefined) throw new Stale('something went away while it was being read');
    return { chunk, commit, score: hit.score, scores: hit.scores };
  });
}

async function readContents(deps: ContentReads, ids: readonly string[], docUuids: readonly string[]): Promise<Contents> {
  const [chunks, records] = await Promise.all([
    ids.length === 0 ? [] : deps.readChunks(ids),
    docUuids.length === 0 ? new Map<string, CommitRecord[]>() : deps.recordsOf(docUuids),
  ]);
  return { chunks: new Map(chunks.map((chunk) => [chunk.id, chunk])), records };
}

/** Best first; ties by doc_id, then chunk id. */
export function inOrder(hits: FusedHit[], known: ReadonlyMap<string, Known>): FusedHit[] {
  const docId = (hit: FusedHit) => known.get(hit.doc_uuid)?.head?.doc_id ?? '';
  return hits.sort((a, b) => b.score - a.score || compareText(docId(a), docId(b)) || compareText(a.id, b.id));
}

/** The first `limit` hits, and those of the last one's document that tie with it: only a reader of the manifest can put them in order. */
export function firstOf(hits: readonly FusedHit[], limit: number): FusedHit[] {
  const last = hits[limit - 1];
  let end = Math.min(limit, hits.length);
  while (last !== undefined && hits[end]?.score === last.score && hits[end]?.doc_uuid === last.doc_uuid) end++;
  return hits.slice(0, end);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
