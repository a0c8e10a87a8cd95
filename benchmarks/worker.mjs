/** One worker as the product composes it, over a folder of its own: what the ingest benchmarks run. */
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chunkerIdentity } from '@sluice/chunking';
import { systemClock } from '@sluice/core';
import { createPolicy, defaultIngestionSettings } from '@sluice/ingestion';
import { createEmbedder } from '@sluice/models';
import { createParserRegistry, defaultParseLimits } from '@sluice/parsers';
import { createFences, createReconcileQueue, createReconcileWorker, createRedis } from '@sluice/queues';
import { createNodeFiles, createRootGuard, createSourceView } from '@sluice/sources';
import { createStore } from '@sluice/store';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createWorkerApp } from '../apps/worker/dist/app.js';
import { createDocumentPool } from '../apps/worker/dist/document-pool.js';

const SOURCE = 'bench';

/**
 * @param services `{ redisUrl, weaviateUrl, modelFolder }`
 * @param options `concurrency` documents at a time (8), `threads` of the model ('auto')
 */
export async function createBenchWorker(services, { concurrency = 8, threads = 'auto' } = {}) {
  const root = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [folder, stateFolder] = [join(root, 'source'), join(root, 'state')];
  await mkdir(folder);
  const namespace = `Bench${process.pid}x${Date.now().toString(36)}`;
  const metrics = createMetrics({ role: 'bench' });
  const logger = silentLogger();
  const files = createNodeFiles();
  await createRootGuard({ source: SOURCE, root: folder, stateFolder, files }).check([]);
  const redis = createRedis({ url: services.redisUrl, role: 'producer' });
  const embedder = await createEmbedder({ folder: services.modelFolder, threads, metrics, logger });
  const store = createStore({ url: services.weaviateUrl, namespace, collection: 'bench', dimensions: 384, metrics, logger });
  await store.ensureSchema();
  const queue = createReconcileQueue({ redis, namespace, logger });
  const reader = createDocumentPool({
    modelFolder: services.modelFolder,
    embedder,
    logger,
    warmMb: defaultParseLimits.parseMemoryMb,
    sizeOf: async (path) => (await stat(path)).size,
  });
  const registry = createParserRegistry();
  const settings = { include: ['**/*'], exclude: [] };
  const view = createSourceView({ name: SOURCE, root: folder, stabilityMs: 0, settings, stateFolder, files });
  const app = createWorkerApp({
    store,
    fences: createFences({ redis, namespace }),
    files,
    reader,
    embedder,
    policy: createPolicy({
      sources: [{ name: SOURCE, chunking: { strategy: 'auto' }, metadata: {}, fields: {}, rules: [] }],
      schema: { defaultSecurityLevel: 1, accessLevels: {} },
      limits: defaultParseLimits,
      versions: {
        registry: registry.version,
        parser: (format) => registry.versionOf(format),
        chunker: (settings) => chunkerIdentity(settings),
        embedder: embedder.id,
      },
    }),
    source: () => view,
    clock: systemClock,
    logger,
    metrics,
    settings: defaultIngestionSettings,
    pending: (ids) => queue.pending(ids),
    freeStuckKeys: () => queue.freeStuckKeys(),
  });
  const worker = createReconcileWorker({
    url: services.redisUrl,
    namespace,
    concurrency,
    handle: (request, context) => app.handle(request, { ...context, progress: () => {} }),
    probeStore: () => store.checkReady(),
  });
  return {
    store,
    embedder,
    metrics,
    write: (path, text) => writeFile(join(folder, path), text),
    /** Seconds from the first job to the last. */
    async run(paths) {
      await queue.addBulk(
        paths.map((path) => ({ source: SOURCE, path, cause: 'scan' })),
        'bulk',
      );
      const began = performance.now();
      await worker.start();
      while (!(await queue.isIdle())) await new Promise((resolve) => setTimeout(resolve, 20));
      return (performance.now() - began) / 1000;
    },
    async stages() {
      const { values } = await metrics.stageSeconds.get();
      const of = (suffix) => values.filter((one) => one.metricName?.endsWith(suffix));
      const counts = new Map(of('_count').map((one) => [one.labels.stage, one.value]));
      return Object.fromEntries(of('_sum').map((one) => [one.labels.stage, one.value / (counts.get(one.labels.stage) || 1)]));
    },
    async close() {
      await worker.stop({ deadlineMs: 2000 });
      await app.stop();
      await reader.close();
      await embedder.close();
      await queue.removeAll();
      await queue.close();
      redis.disconnect();
      const response = await fetch(`${services.weaviateUrl}/v1/schema`);
      for (const { class: name } of (await response.json()).classes) {
        if (name.startsWith(namespace)) await fetch(`${services.weaviateUrl}/v1/schema/${name}`, { method: 'DELETE' });
      }
      await rm(root, { recursive: true, force: true });
    },
  };
}
