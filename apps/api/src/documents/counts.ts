import { type Caller, type DocumentStatus, docUuid, makeDocId, type ReasonCode, type SecurityLevel } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { decisiveRecords, mayKnowOf } from '@sluice/retrieval';
import type { ApiDeps } from '../deps.js';
import { documentState, isDeadLetter } from './state.js';

/** How old a count may be. */
const MAX_AGE_MS = 1_000;
const PENDING_LIMIT = 100_000;

export type StatusCounts = Record<DocumentStatus, number>;

export interface Counts {
  /** By source name; every source of the configuration and every one that has documents. */
  sources: Map<string, StatusCounts>;
  /** Dead letters by reason. */
  deadLetters: Map<string, number>;
}

interface Access {
  security_level: SecurityLevel;
  allowed_groups?: string[];
}

/** What is kept of a document to count it for any caller. */
interface Counted {
  source: string;
  status: DocumentStatus;
  dead: ReasonCode | undefined;
  access: Access[];
}

/** Counts documents by source and status. One walk over the records serves all callers for a second. */
export function createCounter(deps: Pick<ApiDeps, 'store' | 'queue' | 'sources' | 'configuredAccess' | 'clock' | 'logger'>) {
  let cached: { at: number; documents: Promise<Counted[]> } | undefined;

  function documents(maxAgeMs: number): Promise<Counted[]> {
    const now = deps.clock.monotonic();
    if (cached === undefined || now - cached.at >= maxAgeMs) {
      const read = countAll();
      cached = { at: now, documents: read };
      // A failure is not an answer worth keeping.
      read.catch(() => {
        if (cached?.documents === read) cached = undefined;
      });
    }
    return cached.documents;
  }

  async function countAll(): Promise<Counted[]> {
    const jobs = new Map<string, { source: string; path: string }>();
    const queued = await deps.queue.pendingDocuments(PENDING_LIMIT).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'the queue does not answer: pending documents are counted by their stored status');
      return [];
    });
    for (const { source, path } of queued) jobs.set(docUuid(makeDocId(source, path)), { source, path });

    const counted: Counted[] = [];
    for await (const records of deps.store.walkRecords()) {
      const uuid = records[0]?.doc_uuid ?? '';
      const state = documentState(records, jobs.has(uuid));
      if (state === undefined) continue;
      jobs.delete(uuid);
      counted.push({
        source: state.top.source,
        status: state.status,
        dead: isDeadLetter(state) ? (state.top.reason ?? 'internal') : undefined,
        access: decisiveRecords(records).map(accessOf),
      });
    }
    for (const { source, path } of jobs.values()) {
      counted.push({ source, status: 'pending', dead: undefined, access: [deps.configuredAccess(source, path)] });
    }
    return counted;
  }

  return {
    /**
     * @param caller counts what the caller may know of
     * @param maxAgeMs how old the count may be; default a second, 0 counts again
     */
    async count(caller: Caller, maxAgeMs: number = MAX_AGE_MS): Promise<Counts> {
      const sources = new Map<string, StatusCounts>();
      for (const { name } of deps.sources) if (mayReach(caller, name)) sources.set(name, noDocuments());
      const deadLetters = new Map<string, number>();
      for (const document of await documents(maxAgeMs)) {
        if (!document.access.every((access) => mayKnowOf(caller, document.source, access))) continue;
        const counts = sources.get(document.source) ?? noDocuments();
        sources.set(document.source, counts);
        counts[document.status] += 1;
        if (document.dead !== undefined) deadLetters.set(document.dead, (deadLetters.get(document.dead) ?? 0) + 1);
      }
      return { sources, deadLetters };
    },
  };
}

export type Counter = ReturnType<typeof createCounter>;

function accessOf({ security_level, allowed_groups }: Access): Access {
  return allowed_groups === undefined ? { security_level } : { security_level, allowed_groups };
}

function noDocuments(): StatusCounts {
  return { indexed: 0, pending: 0, empty: 0, failed: 0, skipped: 0 };
}
