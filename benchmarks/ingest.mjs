/**
 * Ingest throughput against the raw limit of the model: two threads, one session of one thread each, one text a run. Services are on the
 * same machine. Prints ratios; absolute numbers depend on the machine.
 */
import { stat } from 'node:fs/promises';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createEmbedder, measureEmbedding } from '@sluice/models';
import { createStore } from '@sluice/store';
import { createFences, createReconcileQueue, createReconcileWorker, createRedis } from '@sluice/queues';
import { createNodeFiles, createSourceView } from '@sluice/sources';
import { systemClock } from '@sluice/core';
import { createPolicy, defaultIngestionSettings } from '@sluice/ingestion';
import { createParserRegistry, defaultParseLimits } from '@sluice/parsers';
import { chunkerVersion } from '@sluice/chunking';
import { createWorkerApp } from '../apps/worker/dist/app.js';
import { createDocumentPool } from '../apps/worker/dist/document-pool.js';
import { paragraph, seeded } from './texts.mjs';

const { REDIS_URL, WEAVIATE_URL, SLUICE_MODEL } = process.env;
if (!REDIS_URL || !WEAVIATE_URL || !SLUICE_MODEL) throw new Error('set REDIS_URL, WEAVIATE_URL and SLUICE_MODEL (a folder)');

async function measure(name, documents, concurrency = 8) {
  const root = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const namespace = `Bench${Date.now()}`;
  const metrics = createMetrics({ role: 'bench' });
  const logger = silentLogger();
  const files = createNodeFiles();
  const redis = createRedis({ url: REDIS_URL, role: 'producer' });
  const embedder = await createEmbedder({ folder: SLUICE_MODEL, threads: 'auto', metrics, logger });
  const store = createStore({ url: WEAVIATE_URL, namespace, collection: 'bench', dimensions: 384, metrics, logger });
  await store.ensureSchema();
  const queue = createReconcileQueue({ redis, namespace, logger });
  const reader = createDocumentPool({ modelFolder: SLUICE_MODEL, embedder, logger, sizeOf: async (path) => (await stat(path)).size });
  const registry = createParserRegistry();
  await mkdir(join(root, 'src'));
  await mkdir(join(root, 'state'));
  const { createRootGuard } = await import('@sluice/sources');
  await createRootGuard({ source: 'bench', root: join(root, 'src'), stateFolder: join(root, 'state'), files }).check([]);
  const view = createSourceView({ name: 'bench', root: join(root, 'src'), stabilityMs: 0, settings: { include: ['**/*'], exclude: [] }, stateFolder: join(root, 'state'), files });
  const app = createWorkerApp({
    store,
    fences: createFences({ redis, namespace }),
    files,
    reader,
    embedder,
    policy: createPolicy({
      sources: [{ name: 'bench', chunking: { strategy: 'auto' }, metadata: {}, fields: {}, rules: [] }],
      schema: { defaultSecurityLevel: 1, accessLevels: {} },
      limits: defaultParseLimits,
      versions: { registry: registry.version, parser: (format) => registry.versionOf(format), chunker: chunkerVersion, embedder: embedder.id },
    }),
    source: () => view,
    clock: systemClock,
    logger,
    metrics,
    settings: defaultIngestionSettings,
    pending: (ids) => queue.pending(ids),
    freeStuckKeys: () => queue.freeStuckKeys(),
  });
  let failed = 0;
  const worker = createReconcileWorker({
    url: REDIS_URL,
    namespace,
    concurrency,
    handle: (request, context) =>
      app.handle(request, { ...context, progress: () => {} }).catch((error) => {
        failed += 1;
        console.error(error);
        throw error;
      }),
    probeStore: () => store.checkReady(),
  });
  for (const [path, text] of documents) await writeFile(join(root, 'src', path), text);
  await queue.addBulk(documents.map(([path]) => ({ source: 'bench', path, cause: 'scan' })), 'bulk');
  const began = performance.now();
  await worker.start();
  while (!(await queue.isIdle())) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = (performance.now() - began) / 1000;
  const value = async (metric) => (await metric.get()).values.reduce((sum, one) => sum + one.value, 0);
  const chunks = await value(metrics.embeddingsComputed);
  const stages = (await metrics.stageSeconds.get()).values.filter((one) => one.metricName?.endsWith('_sum') || one.metricName?.endsWith('_count'));
  await worker.stop({ deadlineMs: 1000 });
  await app.stop();
  await reader.close();
  await embedder.close();
  await queue.removeAll();
  await queue.close();
  redis.disconnect();
  for (const suffix of ['chunks', 'commits', 'pages']) void suffix;
  await rm(root, { recursive: true });
  const response = await fetch(`${WEAVIATE_URL}/v1/schema`);
  for (const { class: cls } of (await response.json()).classes) if (cls.startsWith(namespace)) await fetch(`${WEAVIATE_URL}/v1/schema/${cls}`, { method: 'DELETE' });
  return { name, documents: documents.length, chunks, seconds, rate: chunks / seconds, failed, stages: Object.fromEntries(stages.map((one) => [`${one.labels.stage}${one.metricName.endsWith('count') ? ' n' : ' s'}`, Number(one.value.toFixed(2))])) };
}

const random = seeded(7);
const abstracts = Number(process.env.BENCH_ABSTRACTS ?? 1400);
const oneChunk = Array.from({ length: abstracts }, (_, n) => [`abstract-${n}.txt`, paragraph(random)]);
const long = Array.from({ length: Math.max(1, Math.round(abstracts / 25)) }, (_, n) => [`long-${n}.txt`, Array.from({ length: 25 }, () => paragraph(random)).join('\n\n')]);

if (process.argv[2] === 'raw') {
  console.log('raw limit', await measureEmbedding({ folder: SLUICE_MODEL, texts: oneChunk.slice(0, 300).map(([, text]) => text), threads: 2 }));
  process.exit(0);
}
for (const [name, documents] of [['one chunk a document', oneChunk], ['25 chunks a document', long]]) {
  console.log(await measure(name, documents));
}
process.exit(0);
