import { createConfiguredPolicy, createSourceViews, loadConfig, processEnvironment, requireServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import { defaultIngestionSettings } from '@sluice/ingestion';
import { createLlm } from '@sluice/llm';
import { openModel } from '@sluice/models';
import {
  checkRedis,
  createControl,
  createFences,
  createReconcileQueue,
  createReconcileWorker,
  createRedis,
} from '@sluice/queues';
import { createNodeFiles, type SourceView } from '@sluice/sources';
import { createStore } from '@sluice/store';
import { createLogger, createMetrics, type Logger } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { createWorkerApp } from './app.js';
import { createDocumentPool } from './document-pool.js';
import { createFaults } from './faults.js';

/** Time that running jobs have to end when the worker is told to stop, ms. */
const STOP_MS = 10_000;

async function main(): Promise<void> {
  const config = loadConfig({ env: processEnvironment(), cwd: process.cwd() });
  const { runtime } = config;
  const logger = createLogger({ role: 'worker', level: runtime.logLevel });
  const metrics = createMetrics({ role: 'worker', folder: runtime.metricsFolder });
  const { redisUrl, weaviateUrl, weaviateApiKey, model, identity } = await requireServices(config);
  const files = createNodeFiles();
  const clock = systemClock;

  const redis = createRedis({
    url: redisUrl,
    role: 'producer',
    onError: (error) => logger.debug({ cause: error.message }, 'redis'),
  });
  await checkRedis(redis);
  const embedder = await openModel(model, { checksLimit: true, metrics, logger });
  const store = createStore({
    url: weaviateUrl,
    apiKey: weaviateApiKey,
    namespace: runtime.namespace,
    collection: identity.collection,
    dimensions: embedder.dimensions,
    fields: config.schema.fields,
    readerGraceMs: config.store.readerGraceMs,
    clockSkewMs: config.store.clockSkewMs,
    clock,
    logger,
    metrics,
  });
  await store.ensureSchema();
  const queue = createReconcileQueue({ redis, namespace: runtime.namespace, settings: config.queue, logger });
  const reader = createDocumentPool({
    tokenizer: { model: model.model, folder: model.folder, maxTokens: model.maxTokens, passagePrefix: model.passagePrefix },
    embedder,
    logger,
    llm: config.llm === undefined ? undefined : createLlm(config.llm),
    largeBytes: config.queue.largeBytes,
    slowMs: config.queue.slowMs,
    warmMb: config.limits.parseMemoryMb,
    onSlow: (docId) => worker.slow(docId),
  });
  const control = createControl({ redis, namespace: runtime.namespace });
  const views = createSourceViews(config, { files, store, told: (source) => control.rootOf(source) });
  const onStep = createFaults(runtime.faultsFolder);
  const app = createWorkerApp({
    store,
    fences: createFences({ redis, namespace: runtime.namespace }),
    files,
    reader,
    embedder,
    policy: createConfiguredPolicy(config, identity),
    source: (name) => views.get(name),
    clock,
    logger,
    metrics,
    settings: { ...defaultIngestionSettings, readerGraceMs: config.store.readerGraceMs },
    pending: (docUuids) => queue.pending(docUuids),
    freeStuckKeys: () => queue.freeStuckKeys(),
    ...(onStep === undefined ? {} : { onStep }),
  });
  const worker = createReconcileWorker({
    url: redisUrl,
    namespace: runtime.namespace,
    concurrency: config.queue.concurrency,
    async handle(request, context) {
      await app.handle(request, { ...context, progress: (share) => void context.progress(share).catch(() => {}) });
      onStep?.('acknowledge');
    },
    probeStore: () => store.checkReady(),
    ...(embedder.checkReady === undefined ? {} : { probeEmbedder: embedder.checkReady }),
    inFlight: {
      bytes: config.queue.inFlightBytes,
      largeBytes: config.queue.largeBytes,
      sizeOf: async ({ source, path }) => (await views.get(source)?.sizeOf(path)) ?? 0,
      isSlow: (docId) => reader.isSlow(docId),
    },
    settings: { lockMs: config.queue.lockMs, stalledMs: config.queue.stalledMs },
    logger,
  });
  warnOfRoots(views.values(), logger);
  await worker.start();
  app.start();
  logger.info({ sources: config.sources.map((source) => source.name) }, 'worker is ready');

  closeWithGrace({ delay: STOP_MS + 8_000, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'worker ends by a fault');
    await worker.stop({ deadlineMs: STOP_MS });
    await app.stop();
    await reader.close();
    await embedder.close();
    await queue.close();
    await store.close();
    redis.disconnect();
  });
}

/** Before files are removed: of a source that has lost most of them by then, the folder could no longer be recognised. */
function warnOfRoots(views: Iterable<SourceView>, logger: Logger): void {
  for (const { name: source, rootState } of views) {
    rootState().then(
      (root) => root.state !== 'ok' && logger.warn({ source, root_state: root.state }, root.message),
      (cause: unknown) => logger.debug({ source, cause: String(cause) }, 'the root could not be checked'),
    );
  }
}

main().catch((cause: unknown) => {
  // The logger may not exist yet; the supervisor shows and keeps what a process says before it ends.
  createLogger({ role: 'worker' }).fatal(
    { cause: cause instanceof Error ? cause.message : String(cause), stack: cause instanceof Error ? cause.stack : undefined },
    'worker could not start',
  );
  process.exitCode = 1;
  setImmediate(() => process.exit(1));
});
