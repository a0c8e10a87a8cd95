import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  attemptUuid,
  type Cause,
  type ChunkStore,
  type Clock,
  type DocumentReader,
  docUuid,
  type Fences,
  type FieldType,
  type Files,
  hashOf,
  makeDocId,
  SluiceError,
  type StoredChunk,
  topCommit,
} from '@sluice/core';
import {
  createPolicy,
  createReconciler,
  createSweeper,
  defaultIngestionSettings,
  type IngestionDeps,
  type IngestionSettings,
  type ReconcileOptions,
  type ReconcileOutcome,
  type SourcePolicy,
  type SourceView,
} from '@sluice/ingestion';
import { frontMatterOf, isSidecar } from '@sluice/metadata';
import { createNodeFiles } from '@sluice/sources';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createMemoryStore, createWordEmbedder } from '@sluice/testkit';
import { afterEach } from 'vitest';

/** Fences as Redis keeps them, in memory; `flush` and `rollback` do to them what can happen to Redis. */
function createMemoryFences(clock: Pick<Clock, 'now'>) {
  let counters = new Map<string, { value: number; attempt: string; run: number }>();
  let run = 1;
  const fences: Fences = {
    async take(uuid, floor = 0) {
      const value = Math.max(counters.get(uuid)?.value ?? 0, clock.now() * 1000, floor) + 1;
      const attempt = attemptUuid();
      counters.set(uuid, { value, attempt, run });
      return { value, attempt };
    },
    async holds(uuid, fence) {
      const counter = counters.get(uuid);
      return counter?.value === fence.value && counter.attempt === fence.attempt && counter.run === run;
    },
  };
  return {
    ...fences,
    flush() {
      counters = new Map();
    },
    restart() {
      run += 1;
    },
  };
}

/** A clock whose monotonic part is moved by hand; sleeps end at once and move it. */
function createTestClock(): Clock & { advance(ms: number): void } {
  let monotonic = 0;
  return {
    now: () => Date.now(),
    monotonic: () => monotonic,
    async sleep(ms) {
      monotonic += ms;
    },
    advance(ms) {
      monotonic += ms;
    },
  };
}

/**
 * A reader of plain text: paragraphs are chunks, a text with `!corrupt` fails, front matter is read. Real parsing is tested where it
 * lives; here the writer is.
 */
function createParagraphReader(): DocumentReader & { reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    async read(request) {
      reads.push(request.docId);
      const bytes = await readFile(request.path);
      const text = bytes.toString('utf8');
      if (text.includes('!corrupt')) throw new SluiceError('corrupt', `${request.docId} is damaged; replace the file`);
      if (text.includes('!unsupported'))
        throw new SluiceError('unsupported_type', `${request.docId} has a type that is not read`);
      if (text.includes('!flaky')) throw new SluiceError('embed_failed', `${request.docId}: the model did not answer`);
      const front = frontMatterOf(text);
      const chunks = [...text.matchAll(/[^\n](?:[^\n]|\n(?!\n))*/g)]
        .filter((match) => match.index >= (front?.end ?? 0) && match[0].trim() !== '')
        .map((match, index) => ({
          index,
          kind: 'paragraph' as const,
          text: match[0],
          start: match.index,
          end: match.index + match[0].length,
          prefix: '',
          derived: false,
          headingPath: [],
          tokens: 3,
          metadata: {},
        }));
      return {
        contentHash: createHash('sha256').update(bytes).digest('hex'),
        bytes: bytes.length,
        format: request.path.endsWith('.pdf') ? 'pdf' : 'text',
        length: text.length,
        gaps: [],
        pages: [],
        metadata: {},
        warnings: [],
        dropped: [],
        chunks,
        ...(bytes.length === 0 && request.path.endsWith('.pdf') ? { unfinished: true } : {}),
        ...(front === undefined ? {} : { frontMatter: front.data }),
      };
    },
    async close() {},
  };
}

export interface HarnessOptions {
  store?: ChunkStore;
  embedder?: ReturnType<typeof createWordEmbedder>;
  settings?: Partial<IngestionSettings>;
  /** Default 0: nothing is waited for. */
  stabilityMs?: number;
  source?: Partial<SourcePolicy>;
  fields?: Record<string, FieldType>;
  defaultLevel?: 1 | 5;
  files?: Partial<Files>;
  onStep?: IngestionDeps['onStep'];
}

/** One source in a temporary folder over the memory store (or a given one). */
export async function createHarness(options: HarnessOptions = {}) {
  const root = await mkdtemp(join(tmpdir(), 'sluice-ingestion-'));
  const store = options.store ?? createMemoryStore();
  await store.ensureSchema();
  const embedder = options.embedder ?? createWordEmbedder();
  const clock = createTestClock();
  const fences = createMemoryFences(clock);
  const reader = createParagraphReader();
  const name = options.source?.name ?? 'inbox';
  let rootIsThere = true;
  let fault: ((step: string) => void) | undefined;
  const view: SourceView = {
    name,
    root,
    stabilityMs: options.stabilityMs ?? 0,
    accepts: (path) => !isSidecar(path) && !path.startsWith('ignored/'),
    mayDelete: async () => rootIsThere,
  };
  let sourcePolicy: SourcePolicy = {
    name,
    chunking: { strategy: 'auto' },
    metadata: {},
    fields: options.fields ?? {},
    rules: [],
    ...options.source,
  };
  let model = embedder.id;
  const makePolicy = () =>
    createPolicy({
      sources: [sourcePolicy],
      schema: { defaultSecurityLevel: options.defaultLevel ?? 1, accessLevels: { public: 1, internal: 2, secret: 5 } },
      limits: {
        fileBytes: 1e9,
        textUnits: 1e9,
        parseMs: 1e5,
        parseMemoryMb: 512,
        archiveRatio: 100,
        archiveEntries: 100,
        depth: 100,
      },
      versions: { registry: 1, parser: () => 1, chunker: hashOf, embedder: model },
    });
  const deps: IngestionDeps = {
    store,
    fences,
    files: { ...createNodeFiles(), ...options.files },
    reader,
    embedder,
    policy: makePolicy(),
    source: (wanted) => (wanted === name ? view : undefined),
    clock,
    logger: silentLogger(),
    metrics: createMetrics({ role: 'test' }),
    settings: { ...defaultIngestionSettings, ...options.settings },
    onSuperseded: (record) => sweeper.note(record),
    async onStep(step, docId) {
      fault?.(step);
      await options.onStep?.(step, docId);
    },
  };
  const reconciler = createReconciler(deps);
  const sweeper = createSweeper(deps, reconciler);

  const recordsOf = async (path: string) =>
    (await store.recordsOf([docUuid(makeDocId(name, path))])).get(docUuid(makeDocId(name, path))) ?? [];
  return {
    root,
    deps,
    store,
    embedder,
    reader,
    fences,
    clock,
    reconciler,
    sweeper,
    async write(path: string, text: string) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    writeBytes: (path: string, bytes: Uint8Array) => writeFile(join(root, path), bytes),
    remove: (path: string) => rm(join(root, path), { recursive: true }),
    move: (from: string, to: string) => rename(join(root, from), join(root, to)),
    reconcile: (path: string, cause: Cause = 'change', more: ReconcileOptions = {}): Promise<ReconcileOutcome> =>
      reconciler.reconcile({ source: name, path, cause }, { lastAttempt: true, ...more }),
    loseRoot(lost: boolean) {
      rootIsThere = !lost;
    },
    /** Throws at the given step, once. */
    failAt(step: string, error: unknown = new Error(`killed at ${step}`)) {
      fault = (reached) => {
        if (reached !== step) return;
        fault = undefined;
        throw error;
      };
    },
    configure(change: Partial<SourcePolicy>) {
      sourcePolicy = { ...sourcePolicy, ...change };
      deps.policy = makePolicy();
    },
    /** The same name, another model: what a changed model file is. */
    changeModel(id: string) {
      model = id;
      deps.embedder = { ...embedder, id };
      deps.policy = makePolicy();
    },
    recordsOf,
    top: async (path: string) => topCommit(await recordsOf(path)),
    /** Texts of the live chunks, in document order, as the manifest names them. */
    async texts(path: string): Promise<string[]> {
      return (await this.chunks(path)).map((chunk) => chunk.text);
    },
    async chunks(path: string): Promise<StoredChunk[]> {
      const top = topCommit(await recordsOf(path));
      if (top === undefined || top.chunks === 0) return [];
      const { entries } = await store.readManifest(top);
      return store.readChunks(entries.map((entry) => entry.id));
    },
    /** Sweeps a document with the grace passed. */
    async sweep(path: string) {
      const uuid = docUuid(makeDocId(name, path));
      await sweeper.sweep(uuid);
      clock.advance(deps.settings.readerGraceMs + 1);
      return sweeper.sweep(uuid);
    },
    async objects(path: string) {
      return store.listObjects(docUuid(makeDocId(name, path)));
    },
    async close() {
      await rm(root, { recursive: true, force: true });
    },
  };
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** Makes harnesses that are closed after each test. */
export function useHarnesses(): (options?: HarnessOptions) => Promise<Harness> {
  const open: Harness[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  return async (options = {}) => {
    const made = await createHarness(options);
    open.push(made);
    return made;
  };
}

/** Harnesses in which something happens once, when the writer first reaches a step after it was armed. */
export function useArmedHarnesses() {
  const harness = useHarnesses();
  return async (options: HarnessOptions = {}) => {
    let armed: { step: string; run: () => Promise<void> } | undefined;
    const h = await harness({
      ...options,
      onStep: async (step) => {
        if (armed === undefined || armed.step !== step) return;
        const { run } = armed;
        armed = undefined;
        await run();
      },
    });
    return Object.assign(h, {
      at(step: string, run: () => Promise<void>) {
        armed = { step, run };
      },
    });
  };
}
