import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CommitRecord,
  docUuid,
  type Files,
  makeDocId,
  type ReasonCode,
  type ReconcileQueue,
  type ReconcileRequest,
  sidecarKey,
  statKey,
  systemClock,
  type Urgency,
} from '@sluice/core';
import { sidecarsOf } from '@sluice/metadata';
import type { Control, WatchedSourceState } from '@sluice/queues';
import { createNodeFiles, createSourceView } from '@sluice/sources';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import type { WatcherApp } from '../src/app.js';
import { createWatcherApp } from '../src/app.js';
import type { WatchedSource, WatcherDeps } from '../src/watched-source.js';

interface Recorded extends ReconcileRequest {
  urgency: Urgency;
  delayMs: number;
}

/** A store and a worker in a few lines: each request that comes is carried out at once, and what the disk holds is recorded. */
export interface FakeInstance {
  readonly data: string;
  requests: Recorded[];
  /** The highest record of each doc_id. */
  records: Map<string, CommitRecord>;
  /** Paths whose next reconcile fails with this reason. */
  failing: Map<string, ReasonCode>;
  /** Makes every add fail, as with Redis away. */
  queueAway: boolean;
  policy: { fingerprint: string; configHash: string };
  states: Map<string, WatchedSourceState>;
  /** Loses what Redis holds. */
  flush(): void;
  accept(source: string): void;
  /** Asks for a scan and resolves when it is answered. */
  scan(source: string): Promise<void>;
  /** Paths of a source that are indexed, sorted. */
  indexed(source: string): string[];
  /** Number of times a source's path was written. */
  writes(source: string, path: string): number;
  filesScanned(): Promise<number>;
  deps(sources: WatchedSource[], overrides?: Partial<WatcherDeps>): WatcherDeps;
  start(sources: WatchedSource[], overrides?: Partial<WatcherDeps>): Promise<WatcherApp>;
  stopAll(): Promise<void>;
}

export function source(name: string, path: string, overrides: Partial<WatchedSource> = {}): WatchedSource {
  return {
    name,
    path,
    include: ['**/*'],
    exclude: [],
    polling: false,
    stabilityMs: 50,
    scanIntervalS: 300,
    mtimeMatters: false,
    ...overrides,
  };
}

export async function makeFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'sluice-watcher-')));
}

export async function makeInstance(): Promise<FakeInstance> {
  const data = await makeFolder();
  const files = createNodeFiles();
  const metrics = createMetrics({ role: 'watcher-test' });
  const apps: WatcherApp[] = [];
  const written = new Map<string, number>();
  const roots = new Map<string, WatchedSource>();
  let requested = new Map<string, number>();
  let scanned = new Map<string, number>();
  const accepted = new Set<string>();
  let lost = false;
  let number = 1;
  let fence = 1;
  const pending = new Set<Promise<void>>();
  const running = new Map<string, Promise<void>>();

  const instance: FakeInstance = {
    data,
    requests: [],
    records: new Map(),
    failing: new Map(),
    queueAway: false,
    policy: { fingerprint: 'f1', configHash: 'c1' },
    states: new Map(),
    flush() {
      requested = new Map();
      scanned = new Map();
      lost = true;
    },
    accept: (name) => accepted.add(name),
    async scan(name) {
      const request = await control.requestScan(name);
      while ((await control.scannedUpTo(name)) < request) await systemClock.sleep(10);
      await Promise.all(pending);
    },
    indexed(name) {
      const live = [...instance.records.values()].filter((record) => record.source === name && record.status === 'indexed');
      return live.map((record) => record.source_path).sort();
    },
    writes: (name, path) => written.get(makeDocId(name, path)) ?? 0,
    async filesScanned() {
      const { values } = await metrics.filesScanned.get();
      return values[0]?.value ?? 0;
    },
    deps(sources, overrides = {}) {
      for (const each of sources) roots.set(each.name, each);
      return {
        sources,
        async *walkRecords() {
          for (const record of [...instance.records.values()]) yield [record];
        },
        queue,
        control,
        policyFor: () => instance.policy,
        files,
        clock: systemClock,
        logger: silentLogger(),
        metrics,
        stateFolder: join(data, 'sources'),
        ...overrides,
      };
    },
    async start(sources, overrides = {}) {
      const app = createWatcherApp(instance.deps(sources, overrides));
      apps.push(app);
      await app.start();
      return app;
    },
    async stopAll() {
      for (const app of apps.splice(0)) await app.stop();
      await Promise.all(pending);
      await rm(data, { recursive: true, force: true });
    },
  };

  const control: Control = {
    async requestScan(name) {
      number++;
      requested.set(name, number);
      return number;
    },
    scannedUpTo: async (name) => scanned.get(name) ?? 0,
    state: async (name) => instance.states.get(name),
    rootOf: async (name) => instance.states.get(name)?.folder,
    async acceptRoot(name) {
      accepted.add(name);
    },
    async look() {
      if (instance.queueAway) throw new Error('away');
      const flushed = lost;
      lost = false;
      return { now: number, requested: new Map(requested), flushed };
    },
    async answerScan(name, upTo) {
      scanned.set(name, Math.max(upTo, scanned.get(name) ?? 0));
    },
    async publish(name, state) {
      instance.states.set(name, state);
    },
    takeAcceptance: async (name) => accepted.delete(name),
    lead: async (holder) => holder,
    resign: async () => {},
  };

  const queue: ReconcileQueue = {
    add: async (request, urgency, options) => take(request, urgency, options?.delayMs ?? 0),
    async addBulk(requests, urgency, options) {
      for (const request of requests) take(request, urgency, options?.delayMs ?? 0);
    },
  };

  function take(request: ReconcileRequest, urgency: Urgency, delayMs: number): void {
    if (instance.queueAway) throw new Error('away');
    instance.requests.push({ ...request, urgency, delayMs });
    // One job a document at a time, as the queue has it.
    const docId = makeDocId(request.source, request.path);
    const work = (running.get(docId) ?? Promise.resolve())
      .then(() => reconcile(request, files))
      .finally(() => pending.delete(work));
    running.set(docId, work);
    pending.add(work);
  }

  async function reconcile(request: ReconcileRequest, disk: Files): Promise<void> {
    const where = roots.get(request.source);
    if (where === undefined) return;
    const view = createSourceView({
      name: where.name,
      root: where.path,
      stabilityMs: where.stabilityMs,
      settings: where,
      stateFolder: join(data, 'sources'),
      files: disk,
    });
    const docId = makeDocId(request.source, request.path);
    const absolute = join(where.path, request.path);
    const stat = await disk.stat(absolute);
    const before = instance.records.get(docId);
    if (stat?.kind !== 'file' || !(await view.accepts(request.path))) {
      if (before !== undefined && (await view.mayDelete()))
        put(docId, request, { status: 'deleted', stat: '', content_hash: '' });
      return;
    }
    const sidecars = await Promise.all(sidecarsOf(absolute).map((path) => disk.stat(path)));
    const hash = await disk.hash(absolute).catch(() => undefined);
    // It went since it was found: looked at again.
    if (hash === undefined) return reconcile(request, disk);
    const reason = instance.failing.get(request.path);
    instance.failing.delete(request.path);
    const state = {
      stat: statKey(stat),
      sidecar_stat: sidecarKey(sidecars),
      content_hash: hash,
      fingerprint: instance.policy.fingerprint,
      config_hash: instance.policy.configHash,
    };
    if (
      before?.status === 'indexed' &&
      before.stat === state.stat &&
      before.sidecar_stat === state.sidecar_stat &&
      before.fingerprint === state.fingerprint
    )
      return;
    written.set(docId, (written.get(docId) ?? 0) + 1);
    put(docId, request, reason === undefined ? { status: 'indexed', ...state } : { status: 'failed', reason, ...state });
  }

  function put(docId: string, request: ReconcileRequest, state: Partial<CommitRecord>): void {
    instance.records.set(docId, recordOf(docId, request, fence++, { fingerprint: 'f1', config_hash: 'c1', ...state }));
  }

  return instance;
}

export function recordOf(
  docId: string,
  where: { source: string; path: string },
  fence: number,
  state: Partial<CommitRecord>,
): CommitRecord {
  return {
    id: `${docId}:${fence}`,
    kind: 'commit',
    doc_id: docId,
    doc_uuid: docUuid(docId),
    source: where.source,
    source_path: where.path,
    fence,
    attempt: String(fence),
    base_fence: 0,
    live: [],
    superseded: [],
    superseded_revs: [],
    chunks: 1,
    pages: [],
    status: 'indexed',
    content_hash: '',
    served_hash: '',
    stat: '',
    sidecar_stat: '',
    fingerprint: '',
    config_hash: '',
    format: 'text',
    revision: '',
    security_level: 1,
    metadata: { doc_type: 'document', tags: [], security_level: 1, fields: {} },
    chunk_metadata_hash: '',
    warnings: [],
    committed_at: '',
    ...state,
  };
}
