import {
  createConfiguredPolicy,
  createSourceViews,
  type InstanceGenerations,
  type loadConfig,
  type RequiredServices,
} from '@sluice/config';
import { systemClock } from '@sluice/core';
import { defaultIngestionSettings } from '@sluice/ingestion';
import { createLlm } from '@sluice/llm';
import { type GenerationWork, openModel } from '@sluice/models';
import { createControl, createFences, createReconcileQueue, createReconcileWorker, type createRedis } from '@sluice/queues';
import { createNodeFiles, type SourceView } from '@sluice/sources';
import { createStore } from '@sluice/store';
import type { Logger, Metrics } from '@sluice/telemetry';
import { createWorkerApp } from './app.js';
import { createDocumentPool } from './document-pool.js';
import { createFaults } from './faults.js';

/** Time that running jobs have to end when the worker is told to stop, ms. */
export const STOP_MS = 10_000;
/** Documents at a time for an index that does not answer. */
const BACKGROUND_CONCURRENCY = 2;

interface GenerationDeps {
  config: ReturnType<typeof loadConfig>;
  services: RequiredServices;
  redis: ReturnType<typeof createRedis>;
  logger: Logger;
  metrics: Metrics;
}

/** Consumes the jobs of one model and writes to its collections. @param isLive one that does not answer yields to the one that does */
export async function startGeneration(
  { config, services, redis, logger, metrics }: GenerationDeps,
  { model, identity, queueNamespace }: Awaited<ReturnType<InstanceGenerations['open']>>,
  isLive: boolean,
): Promise<GenerationWork> {
  const { runtime } = config;
  const files = createNodeFiles();
  const clock = systemClock;
  const embedder = await openModel(model, {
    checksLimit: true,
    metrics,
    logger,
    ...(isLive ? {} : { threads: 1, background: true }),
  });
  const store = createStore({
    url: services.weaviateUrl,
    apiKey: services.weaviateApiKey,
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
  const queue = createReconcileQueue({ redis, namespace: queueNamespace, settings: config.queue, logger });
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
  const control = createControl({ redis, namespace: queueNamespace });
  const views = createSourceViews(config, { files, store, told: (source) => control.rootOf(source) });
  const onStep = createFaults(runtime.faultsFolder);
  const app = createWorkerApp({
    store,
    fences: createFences({ redis, namespace: queueNamespace }),
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
    url: services.redisUrl,
    namespace: queueNamespace,
    concurrency: isLive ? config.queue.concurrency : BACKGROUND_CONCURRENCY,
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

  return {
    async stop() {
      await worker.stop({ deadlineMs: STOP_MS });
      await app.stop();
      await reader.close();
      await embedder.close();
      await queue.close();
      await store.close();
    },
  };
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
