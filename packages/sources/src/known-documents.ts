import {
  type ChunkStore,
  type CommitRecord,
  docUuid,
  makeDocId,
  type ReasonCode,
  type StoredStatus,
  topRecord,
} from '@sluice/core';

/** What a scan needs of a document's highest record. */
export interface KnownDocument {
  status: StoredStatus;
  reason: ReasonCode | undefined;
  discarded: boolean;
  contentHash: string;
  stat: string;
  sidecarStat: string;
  fingerprint: string;
  configHash: string;
  format: string;
}

/** Known documents of one source by path, tombstones included. */
export type KnownDocuments = Map<string, KnownDocument>;

export interface Collected {
  /** By source, of those that were asked for. */
  known: Map<string, KnownDocuments>;
  /** Number of documents of every other source, tombstones left out. */
  others: Map<string, number>;
}

/**
 * Collects the highest record of each document of the given sources. About 400 bytes a document stay in memory.
 *
 * @param records groups of records, one group a document, as ChunkStore.walkRecords gives them
 */
export async function collectKnown(
  records: AsyncIterable<readonly CommitRecord[]>,
  sources: readonly string[],
): Promise<Collected> {
  const known = new Map<string, KnownDocuments>(sources.map((source) => [source, new Map()]));
  const others = new Map<string, number>();
  // The same few fingerprints, configurations and formats stand in all records: kept once each.
  const shared = new Map<string, string>();
  const share = (text: string): string => {
    const before = shared.get(text);
    if (before !== undefined) return before;
    shared.set(text, text);
    return text;
  };
  for await (const group of records) {
    const top = topRecord(group);
    if (top === undefined) continue;
    const documents = known.get(top.source);
    if (documents === undefined && top.status !== 'deleted') others.set(top.source, (others.get(top.source) ?? 0) + 1);
    documents?.set(top.source_path, {
      status: top.status,
      reason: top.reason,
      discarded: top.discarded === true,
      contentHash: top.content_hash,
      stat: top.stat,
      sidecarStat: top.sidecar_stat,
      fingerprint: share(top.fingerprint),
      configHash: share(top.config_hash),
      format: share(top.format),
    });
  }
  return { known, others };
}

/**
 * Paths of at most `limit` documents of a source, tombstones left out. Records come in the order of document uuids, which are hashes, so
 * the first ones are a fair sample; the walk ends with them.
 *
 * @param records as for collectKnown
 */
export async function sampleKnown(
  records: AsyncIterable<readonly CommitRecord[]>,
  source: string,
  limit: number,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const group of records) {
    const top = topRecord(group);
    if (top === undefined || top.source !== source || top.status === 'deleted') continue;
    paths.push(top.source_path);
    if (paths.length === limit) break;
  }
  return paths;
}

/** Those of a source's paths whose documents the store still holds, tombstones left out. */
export async function stillKnown(
  store: Pick<ChunkStore, 'recordsOf'>,
  source: string,
  paths: readonly string[],
): Promise<string[]> {
  const uuidOf = (path: string) => docUuid(makeDocId(source, path));
  const records = await store.recordsOf(paths.map(uuidOf));
  return paths.filter((path) => {
    const top = topRecord(records.get(uuidOf(path)) ?? []);
    return top !== undefined && top.status !== 'deleted';
  });
}
