import type { Clock, CommitRecord, SearchRequest, StoredChunk } from '@sluice/core';
import type { RawHit, RawPool } from './fusion.js';
import type { RecordHead } from './record-codec.js';
import type { SeenCommits } from './seen-commits.js';

/** What a search knows of documents it has read the commits of: only these of their chunks may be returned. */
export interface Pins {
  /** Live attempts of each document; none when it has no commit, or one the caller may not see. */
  revs: ReadonlyMap<string, readonly string[]>;
  /** Ids that are live no longer though their attempt is. */
  superseded: ReadonlySet<string>;
  /** True: nothing but pinned documents. */
  closed: boolean;
}

export interface VisibleSearchDeps {
  /**
   * The request's search over what is stored, with `filter AND (document not pinned OR rev pinned) AND NOT superseded`: of each part the best
   * `wanted` hits, or as many as the store can give at once.
   * @param onPart may be called with the hits of a part that ended before the others, so that their commits are read meanwhile
   */
  rawSearch(request: SearchRequest, pins: Pins, wanted: number, onPart?: (hits: readonly RawHit[]) => void): Promise<RawPool>;
  /** Every record of the documents, reduced to what decides on visibility. */
  headsOf(docUuids: readonly string[]): Promise<Map<string, RecordHead[]>>;
  /** Unix milliseconds, by the store's clock, at which it took the records of these ids. Asked only of commits not seen before. */
  createdOf(ids: readonly string[]): Promise<Map<string, number>>;
  /** Whole records of the documents that are shown. */
  recordsOf(docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>>;
  readChunks(ids: readonly string[]): Promise<StoredChunk[]>;
  clock: Clock;
  /** How long superseded chunks stay, milliseconds. 0 (for tests) sets no bound on a search's time. */
  graceMs: number;
  /** How far the store's clock may be from ours, milliseconds. */
  skewMs: number;
  seen?: SeenCommits;
  /** For tests that show what each rule is for. All true unless said. `checkAge`: a commit that may have landed during the search is doubted. */
  rules?: { checkVisibility?: boolean; pinAndRetry?: boolean; checkAge?: boolean };
}
