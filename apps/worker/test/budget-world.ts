import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Cause, type DocumentReader, type Files, hashOf, systemClock } from '@sluice/core';
import { createPolicy, defaultIngestionSettings } from '@sluice/ingestion';
import { createFences, createReconcileQueue, createReconcileWorker, createRedis } from '@sluice/queues';
import { createNodeFiles, createSourceView } from '@sluice/sources';
import { createStore } from '@sluice/store';
import { createLogger, createMetrics } from '@sluice/telemetry';
import { createWordEmbedder, dropCollections, testServices, until } from '@sluice/testkit';
import { createWorkerApp } from '../src/app.js';
import { add, type Counts, createRedisProxy, createWeaviateProxy } from './counting-proxies.js';

/** Work per document. */
export interface Spent {
  requests: Record<string, number>;
  rows: number;
  kilobytes: number;
  commands: number;
  files: number;
}

const SOURCE = 'inbox';
/** Commands that a worker sends whether or not there is work: waiting for jobs, signs of life, checks for lost jobs. */
const AT_REST = new Set(['client', 'info', 'bzpopmin', 'hello', 'ping']);

/** A worker as it is started, on the real services behind counting proxies. Only the parser and the model are simple ones. */
export async function createBudgetWorld() {
  const services = testServices();
  const namespace = `budget${process.pid}x${Date.now().toString(36)}`;
  const base = await mkdtemp(join(tmpdir(), 'sluice-budget-'));
  const root = join(base, SOURCE);
  await mkdir(root);
  const weaviate = await createWeaviateProxy(services.weaviate);
  const redisProxy = await createRedisProxy(services.redis);
  const fileCalls: Counts = new Map();
  const files = countingFiles(fileCalls);
  const embedder = createWordEmbedder();
  let isAudited = false;
  const settings = { ...defaultIngestionSettings, readerGraceMs: 50, auditIntervalMs: 3_600_000 };
  const place = { url: weaviate.url, namespace, collection: 'words', dimensions: embedder.dimensions };
  const store = createStore({ ...place, readerGraceMs: settings.readerGraceMs });
  // A search has half the grace at most, and garbage collection should not be waited for.
  const searched = createStore(place);
  await store.ensureSchema();
  const redis = createRedis({ url: redisProxy.url, role: 'producer' });
  const queue = createReconcileQueue({ redis, namespace });
  // What the test itself asks is not counted.
  const ownRedis = createRedis({ url: services.redis, role: 'producer' });
  const ownQueue = createReconcileQueue({ redis: ownRedis, namespace });
  const view = createSourceView({
    name: SOURCE,
    root,
    stabilityMs: 0,
    settings: {},
    stateFolder: join(base, 'state'),
    files,
    store,
  });
  const app = createWorkerApp({
    store,
    fences: createFences({ redis, namespace }),
    files,
    reader: createParagraphReader(files),
    embedder,
    policy: createPolicy({
      sources: [{ name: SOURCE, chunking: { strategy: 'auto' }, metadata: {}, fields: {}, rules: [] }],
      schema: { defaultSecurityLevel: 1, accessLevels: { public: 1 } },
      limits: {
        fileBytes: 1e9,
        textUnits: 1e9,
        parseMs: 1e5,
        parseMemoryMb: 512,
        archiveRatio: 100,
        archiveEntries: 100,
        depth: 100,
      },
      versions: { registry: 1, parser: () => 1, chunker: hashOf, embedder: embedder.id },
    }),
    // Whether the root is the source's own is found once for many documents, by what the watcher keeps of it.
    source: (name) => (name === SOURCE ? { ...view, mayDelete: async () => true } : undefined),
    clock: systemClock,
    logger: createLogger({ role: 'worker', level: 'debug', destination: { write: note } }),
    metrics: createMetrics({ role: 'test' }),
    settings,
    pending: (uuids) => ownQueue.pending(uuids),
    freeStuckKeys: () => ownQueue.freeStuckKeys(),
  });
  const worker = createReconcileWorker({
    url: redisProxy.url,
    namespace,
    concurrency: 32,
    handle: (request, context) =>
      app.handle(request, { ...context, progress: (share) => void context.progress(share).catch(() => {}) }),
    inFlight: { bytes: 1e9, largeBytes: 1e8, sizeOf: ({ path }) => view.sizeOf(path) },
  });
  const paths = new Set<string>();
  function note(line: string): void {
    if (line.includes('"msg":"audit"')) isAudited = true;
  }
  await worker.start();
  app.start();
  // What is asked once is no document's: schema, limits, scripts, and the audit at start.
  await until(() => isAudited);
  await spentOn({ 'first.txt': 'The first document.' }, 'add');

  /**
   * Writes or removes files, reconciles them, and counts until nothing is left to do.
   *
   * @param options `deletes`: requests of the garbage collection that are waited for
   */
  async function spentOn(
    given: Record<string, string | undefined> | readonly string[],
    cause: Cause,
    { deletes = 0 } = {},
  ): Promise<Spent> {
    const changed = Array.isArray(given) ? given : Object.keys(given);
    if (!Array.isArray(given)) for (const [path, text] of Object.entries(given)) await put(path, text);
    clearCounts();
    await queue.addBulk(
      changed.map((path) => ({ source: SOURCE, path, cause })),
      'interactive',
    );
    await until(async () => {
      if (!(await ownQueue.isIdle())) throw new Error('jobs are left');
      if ((weaviate.counts.get('delete') ?? 0) < deletes) throw new Error('garbage is left');
    });
    return perDocument(changed.length);
  }

  async function spentOnSearch(query: string): Promise<Spent> {
    const [vector] = await embedder.embed([query]);
    if (vector === undefined) throw new Error('the embedder gave no vector');
    const filter = { op: 'const', value: true } as const;
    const request = { mode: 'hybrid', query, vector, alpha: 0.5, limit: 10, filter, mayAccess: () => true } as const;
    // A search believes commits that are new to its process only after a second look.
    for (let n = 0; n < 3; n += 1) {
      clearCounts();
      await searched.search(request);
    }
    return perDocument(1);
  }

  function clearCounts(): void {
    for (const counts of [weaviate.counts, redisProxy.counts, fileCalls]) counts.clear();
  }

  async function put(path: string, text: string | undefined): Promise<void> {
    const file = join(root, path);
    if (text === undefined) {
      paths.delete(path);
      await rm(file);
      return;
    }
    paths.add(path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  function perDocument(documents: number): Spent {
    const { rows = 0, bytes = 0, ...requests } = Object.fromEntries(weaviate.counts);
    const commands = [...redisProxy.counts].filter(([name]) => !AT_REST.has(name)).reduce((sum, [, count]) => sum + count, 0);
    const calls = [...fileCalls.values()].reduce((sum, count) => sum + count, 0);
    const each = (count: number) => Math.round((100 * count) / documents) / 100;
    return {
      requests: Object.fromEntries(Object.entries(requests).map(([kind, count]) => [kind, each(count)])),
      rows: each(rows),
      kilobytes: each(bytes / 1000),
      commands: each(commands),
      files: each(calls),
    };
  }

  return {
    spentOn,
    spentOnSearch,
    pathsBelow: (prefix: string) => [...paths].filter((path) => path.startsWith(prefix)),
    async close() {
      await worker.stop({ deadlineMs: 1000 });
      await app.stop();
      await ownQueue.removeAll();
      await Promise.all([queue.close(), ownQueue.close(), store.close(), searched.close()]);
      redis.disconnect();
      ownRedis.disconnect();
      weaviate.close();
      redisProxy.close();
      await dropCollections(services.weaviate, namespace);
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** `read` is what the process that parses does. */
interface CountedFiles extends Files {
  read(path: string): Promise<Uint8Array>;
}

function countingFiles(calls: Counts): CountedFiles {
  const files = createNodeFiles();
  const counted = <Given extends unknown[], Answer>(name: string, call: (...given: Given) => Answer) => {
    return (...given: Given): Answer => {
      add(calls, name);
      return call(...given);
    };
  };
  return {
    stat: counted('stat', files.stat),
    list: counted('list', files.list),
    read: counted('read', (path: string) => readFile(path)),
    readHead: counted('readHead', files.readHead),
    hash: counted('hash', files.hash),
    realpath: counted('realpath', files.realpath),
  };
}

/** Paragraphs are chunks. */
function createParagraphReader(files: CountedFiles): DocumentReader {
  return {
    async read({ path }) {
      const bytes = await files.read(path);
      const text = Buffer.from(bytes).toString('utf8');
      const chunks = [...text.matchAll(/[^\n]+/g)].map((match, index) => ({
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
        format: 'text',
        length: text.length,
        gaps: [],
        pages: [],
        metadata: {},
        warnings: [],
        dropped: [],
        chunks,
      };
    },
    async close() {},
  };
}
