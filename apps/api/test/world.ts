import {
  type Caller,
  type Cause,
  type ChunkStore,
  type Clock,
  type CommitRecord,
  docUuid,
  type FeedbackStore,
  type KeyStore,
  makeDocId,
  SluiceError,
  type StoredFeedback,
  type StoredKey,
  systemClock,
} from '@sluice/core';
import { fieldCatalog } from '@sluice/metadata';
import { createRetrieval, type RetrievalDeps, searchSchema } from '@sluice/retrieval';
import { matchedSpans } from '@sluice/store';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createMemoryStore, createWordEmbedder, createWordTokenizer, type DocumentToStore, storeDocument } from '@sluice/testkit';
import { buildApp } from '../src/app.js';
import type { ApiDeps } from '../src/deps.js';
import type { HttpApp } from '../src/http-app.js';
import { createKeyRing } from '../src/keys/key-ring.js';

/** Keys in memory; `broken` makes it answer like a store that is away. */
export function createMemoryKeys(): KeyStore & { broken: boolean } {
  const keys: StoredKey[] = [];
  return {
    broken: false,
    async list() {
      if (this.broken) throw new SluiceError('store_unavailable', 'away');
      return [...keys];
    },
    async insert(key) {
      keys.push(key);
    },
    async revoke(id) {
      const at = keys.findIndex((key) => key.id === id);
      if (at >= 0) keys.splice(at, 1);
      return at >= 0;
    },
  };
}

/** Feedback in memory; a cursor is a place in it. */
function createMemoryFeedback(): FeedbackStore {
  const all: StoredFeedback[] = [];
  const cursorOf = (place: number) => `${place.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  return {
    async insert(feedback) {
      all.push(feedback);
    },
    async list({ limit, after }) {
      const from = after === undefined ? 0 : Number.parseInt(after.slice(0, 8), 16);
      const end = from + limit;
      return { feedback: all.slice(from, end), ...(end < all.length ? { next: cursorOf(end) } : {}) };
    },
  };
}

/** Last uses of keys, in memory. */
export function createMemoryKeyUse(clock: Clock = systemClock): ApiDeps['keyUse'] {
  const used = new Map<string, string>();
  return {
    touch: (keyId) => void used.set(keyId, new Date(clock.now()).toISOString()),
    all: async () => used,
    forget: (keyId) => void used.delete(keyId),
  };
}

interface Job {
  source: string;
  path: string;
  cause: Cause;
}

/** A queue that keeps its jobs in memory; `broken` makes it answer like a Redis that is away. */
function createFakeQueue() {
  const jobs = new Map<string, Job & { urgency: string }>();
  const state = { jobs, broken: false, paused: false, standing: [] as { host: string; pid: number; seconds: number }[] };
  const check = () => {
    if (state.broken) throw new SluiceError('queue_unavailable', 'Redis does not answer: test.');
  };
  const add = (job: Job, urgency: string) => jobs.set(docUuid(makeDocId(job.source, job.path)), { ...job, urgency });
  const queue: ApiDeps['queue'] = {
    async add(request, urgency) {
      check();
      add(request, urgency);
    },
    async addBulk(requests, urgency) {
      check();
      for (const request of requests) add(request, urgency);
    },
    async counts() {
      check();
      return { reconcile: { waiting: jobs.size, active: 0, delayed: 0 } };
    },
    async pending(uuids) {
      check();
      return new Set(uuids.filter((uuid) => jobs.has(uuid)));
    },
    async pendingDocuments(limit) {
      check();
      return [...jobs.values()].slice(0, limit);
    },
    async pause() {
      check();
      state.paused = true;
    },
    async resume() {
      check();
      state.paused = false;
    },
    async isPaused() {
      check();
      return state.paused;
    },
    async ping() {
      check();
    },
    async consuming() {
      check();
      return true;
    },
    async standingWorkers() {
      check();
      return state.standing;
    },
  };
  return { ...state, queue, state };
}

export interface World {
  app: HttpApp;
  deps: ApiDeps;
  store: ChunkStore;
  queue: ReturnType<typeof createFakeQueue>;
  put(document: DocumentToStore): Promise<CommitRecord>;
  /** Replaces the caller that the gate would find. */
  as(caller: Partial<Caller>): void;
  close(): Promise<void>;
}

/** What the world's search works with instead of the memory store and nothing. */
type Parts = Partial<Pick<RetrievalDeps, 'reranker' | 'llm' | 'embedder'>> & { store?: ChunkStore };

/** The API over fakes: the memory store, a queue in memory, an embedder of words. */
export async function createWorld(
  overrides: Partial<ApiDeps> = {},
  { store = createMemoryStore(), ...parts }: Parts = {},
): Promise<World> {
  const embedder = createWordEmbedder();
  const queue = createFakeQueue();
  const logger = silentLogger();
  const metrics = createMetrics({ role: 'api' });
  const tokenizer = createWordTokenizer();
  const catalog = fieldCatalog({ quarter: 'text', year: 'int' });
  const retrieval = createRetrieval({
    store,
    matchedSpans,
    embedder,
    tokenizer,
    catalog,
    settings: searchSchema.parse({}),
    readerGraceMs: 10_000,
    clock: systemClock,
    logger,
    metrics,
    ...parts,
  });
  const scans = new Map<string, number>();
  let caller: Caller = { role: 'operator', clearance: 1, groups: [], name: 'anonymous' };
  const deps: ApiDeps = {
    store,
    retrieval,
    tokenizer,
    queue: queue.queue,
    control: {
      async requestScan(source) {
        scans.set(source, (scans.get(source) ?? 0) + 1);
        return scans.get(source) ?? 0;
      },
      async scannedUpTo(source) {
        return scans.get(source) ?? 0;
      },
      acceptRoot: async () => undefined,
      async state() {
        return { reachable: true, deletes_suspended: false };
      },
    },
    sources: [
      { name: 'inbox', path: '/data/inbox' },
      { name: 'notes', path: '/data/notes' },
    ],
    configuredAccess: (source) => ({ security_level: source === 'notes' ? 3 : 1 }),
    accessOfNewFile: async (source) => ({ security_level: source === 'notes' ? 3 : 1 }),
    catalog,
    settings: { allowedHosts: [], corsOrigins: [], callsAtOnce: 200, bodyBytes: 1024 * 1024 },
    clock: systemClock,
    logger,
    metrics,
    instanceMetrics: () => metrics.registry.metrics(),
    processes: async () => [{ role: 'api', pid: process.pid, restarts: 0 }],
    addresses: async () => ({ redis: 'redis://127.0.0.1:1', weaviate: 'http://127.0.0.1:2', api: 'http://127.0.0.1:3' }),
    checkModel: async () => undefined,
    models: {
      status: async () => ({ live: { model: 'words', collection: 'words-1' }, unused: [] }),
      build: async () => undefined,
      abort: async () => undefined,
      rollBack: async () => undefined,
      prune: async () => [],
    },
    discard: async () => true,
    verify: async () => ({
      differences: 0,
      by_kind: {
        missing_document: 0,
        stale_document: 0,
        unexpected_document: 0,
        missing_chunk: 0,
        orphan_chunk: 0,
        duplicate_chunk: 0,
        wrong_metadata: 0,
      },
      failed_serving_old: 0,
      in_grace: 0,
      in_flight: 0,
      unreachable_sources: [],
      unreadable_paths: 0,
      checked: { files: 0, documents: 0, chunks: 0 },
      examples: [],
    }),
    removeSource: async () => 0,
    explain: async () => ({ origins: {} }),
    ring: createKeyRing({ store: createMemoryKeys(), clock: systemClock }),
    feedback: createMemoryFeedback(),
    keyUse: createMemoryKeyUse(),
    identify: async () => caller,
    ...overrides,
  };
  const app = await buildApp(deps);
  return {
    app,
    deps,
    store,
    queue,
    put: (document) => storeDocument(store, embedder, document),
    as(other) {
      caller = { ...caller, ...other };
    },
    close: () => app.close(),
  };
}
