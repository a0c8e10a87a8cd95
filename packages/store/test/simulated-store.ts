import type { CommitRecord, SearchRequest, StoredChunk } from '@sluice/core';
import type { RawHit } from '../src/fusion.js';
import type { RecordHead } from '../src/record-codec.js';
import type { Pins, VisibleSearchDeps } from '../src/visible-search-deps.js';

/** A chunk of the simulation: everything that a search looks at. */
export interface SimulatedChunk {
  id: string;
  document: string;
  rev: string;
  score: number;
}

export interface SimulatedCommit {
  document: string;
  fence: number;
  attempt: string;
  base?: number;
  live: string[];
  superseded?: string[];
  level?: 1 | 2 | 3 | 4 | 5;
  createdMs?: number;
}

/**
 * A store whose search is no snapshot, as Weaviate's is none: it looks at one object after another, and `pause` is called before each look and
 * each read, so that a test can let a writer go on in between.
 */
export function createSimulatedStore(pause: () => void | Promise<void>) {
  const chunks = new Map<string, SimulatedChunk>();
  const commits: SimulatedCommit[] = [];
  /** Every id that ever was: the order in which a search looks. */
  const order = new Set<string>();
  let searches = 0;

  const headOf = (commit: SimulatedCommit): RecordHead => ({
    id: `commit-${commit.attempt}`,
    kind: 'commit',
    doc_id: commit.document,
    doc_uuid: commit.document,
    fence: commit.fence,
    attempt: commit.attempt,
    base_fence: commit.base ?? 0,
    live: commit.live,
    superseded: commit.superseded ?? [],
    security_level: commit.level ?? 1,
  });

  const ports: Pick<VisibleSearchDeps, 'rawSearch' | 'headsOf' | 'createdOf' | 'recordsOf' | 'readChunks'> = {
    async rawSearch(_request: SearchRequest, pins: Pins, wanted: number) {
      searches++;
      const hits: RawHit[] = [];
      for (const id of order) {
        await pause();
        const chunk = chunks.get(id);
        if (chunk === undefined) continue;
        const pinned = pins.revs.get(chunk.document);
        if (pinned === undefined ? pins.closed : !pinned.includes(chunk.rev)) continue;
        if (pins.superseded.has(id)) continue;
        hits.push({ id, doc_uuid: chunk.document, rev: chunk.rev, score: chunk.score });
      }
      hits.sort((a, b) => b.score - a.score);
      // The best are named by an index and then loaded: what is deleted in between leaves its place empty.
      const named = hits.slice(0, wanted);
      await pause();
      return { dense: named.filter((hit) => chunks.has(hit.id)), keyword: [], limit: wanted };
    },
    async headsOf(documents) {
      await pause();
      const found = new Map<string, RecordHead[]>(documents.map((document) => [document, []]));
      for (const commit of commits) found.get(commit.document)?.push(headOf(commit));
      return found;
    },
    async createdOf(ids) {
      await pause();
      return new Map(commits.filter((c) => ids.includes(headOf(c).id)).map((c) => [headOf(c).id, c.createdMs ?? 0]));
    },
    async recordsOf(documents) {
      // Searches hand whole records on unread.
      return (await ports.headsOf(documents)) as Map<string, RecordHead[]> as Map<string, CommitRecord[]>;
    },
    async readChunks(ids) {
      await pause();
      return ids.flatMap((id) => {
        const chunk = chunks.get(id);
        return chunk === undefined
          ? []
          : [{ id, doc_id: chunk.document, doc_uuid: chunk.document, rev: chunk.rev, text: id } as StoredChunk]; // likewise
      });
    },
  };

  return {
    ports,
    put(chunk: SimulatedChunk) {
      chunks.set(chunk.id, chunk);
      order.add(chunk.id);
    },
    /** Names an id before its object exists, so that its place in the order of looks is known. */
    reserve(...ids: string[]) {
      for (const id of ids) order.add(id);
    },
    remove(id: string) {
      chunks.delete(id);
    },
    commit(commit: SimulatedCommit) {
      commits.push(commit);
    },
    get searches() {
      return searches;
    },
  };
}

export const DENSE: SearchRequest = {
  mode: 'dense',
  query: '',
  alpha: 1,
  limit: 10,
  filter: { op: 'const', value: true },
  mayAccess: () => true,
};
