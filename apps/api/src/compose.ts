import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import {
  type Config,
  createConfiguredPolicy,
  createSourceViews,
  ensureSecret,
  type InstanceGenerations,
  type RequiredServices,
} from '@sluice/config';
import { type DocumentReader, docUuid, makeDocId, SluiceError, systemClock } from '@sluice/core';
import {
  accessOfNewFile,
  defaultIngestionSettings,
  discardDocument,
  type IngestionDeps,
  removeSource,
  verify,
} from '@sluice/ingestion';
import { type Environment, readRunFile } from '@sluice/launcher';
import { createLlm } from '@sluice/llm';
import { fieldCatalog, resolveAccess } from '@sluice/metadata';
import { type Generation, openModel } from '@sluice/models';
import {
  type Control,
  createControl,
  createFences,
  createKeyUse,
  createReconcileQueue,
  createRedis,
  type ReconcileJobs,
} from '@sluice/queues';
import { createRetrieval } from '@sluice/retrieval';
import { createNodeFiles } from '@sluice/sources';
import { createFeedbackStore, createKeyStore, createStore, matchedSpans } from '@sluice/store';
import { instanceMetrics, type Logger, type Metrics } from '@sluice/telemetry';
import { createConsumption } from './consumption.js';
import type { ApiDeps } from './deps.js';
import { createExplain } from './explain.js';
import { createGate } from './keys/gate.js';
import { createKeyRing } from './keys/key-ring.js';
import { listPaths } from './list-paths.js';
import { createModelControl } from './models.js';
import { createOtherIndexes, type OtherIndexes } from './other-indexes.js';
import { createConfiguredReranker } from './reranker.js';

/** Threads of the query embedder: a query is one short text, the worker needs the cores more. */
const QUERY_THREADS = 1;
/** Calls of the language model for one answer: someone waits for it. */
const ANSWER_ATTEMPTS = 2;

export interface ComposeDeps {
  config: Config;
  logger: Logger;
  env: Environment;
  metrics: Metrics;
  services: RequiredServices;
  generations: InstanceGenerations;
}

export interface Composed {
  deps: ApiDeps;
  close(): Promise<void>;
}

/** The real parts of the API over one model, from a configuration. Nothing waits for Redis or Weaviate: /readyz tells when they answer. */
export async function compose(
  { config, logger, env, metrics, services, generations }: ComposeDeps,
  live: Generation,
): Promise<Composed> {
  const { runtime } = config;
  const { redisUrl, weaviateUrl, weaviateApiKey } = services;
  const { model, identity, queueNamespace } = await generations.open(live);
  const clock = systemClock;
  const files = createNodeFiles();
  const redis = createRedis({
    url: redisUrl,
    role: 'producer',
    onError: (error) => logger.debug({ cause: error.message }, 'redis'),
  });
  const embedder = await openModel(model, { threads: QUERY_THREADS, urgent: true, logger });
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
  const jobs = createReconcileQueue({ redis, namespace: queueNamespace, settings: config.queue, logger });
  const others = createOtherIndexes({ namespace: runtime.namespace, settings: config.queue, generations, live, redis, logger });
  const catalog = fieldCatalog(config.schema.fields);
  const policy = createConfiguredPolicy(config, identity);
  const control = createControl({ redis, namespace: queueNamespace });
  const views = createSourceViews(config, { files, store, told: (source) => control.rootOf(source) });
  const settings = { ...defaultIngestionSettings, readerGraceMs: config.store.readerGraceMs };
  const ingestion: IngestionDeps = {
    store,
    fences: createFences({ redis, namespace: queueNamespace }),
    files,
    reader: noReader,
    embedder,
    policy,
    source: (name) => views.get(name),
    clock,
    logger,
    metrics,
    settings,
  };
  const { reranker, close: closeReranker } = createConfiguredReranker(config, { env, clock, logger });
  const retrieval = createRetrieval({
    store,
    matchedSpans,
    embedder: { ...embedder, embed: (texts, signal) => embedder.embed(texts, signal, { urgent: true, as: 'query' }) },
    tokenizer: embedder.queryTokenizer,
    ...(reranker === undefined ? {} : { reranker }),
    ...(config.llm === undefined ? {} : { llm: createLlm({ ...config.llm, attempts: ANSWER_ATTEMPTS }) }),
    catalog,
    settings: config.search,
    readerGraceMs: config.store.readerGraceMs,
    clock,
    logger,
    metrics,
  });
  const keys = createKeyStore({
    url: weaviateUrl,
    apiKey: weaviateApiKey,
    namespace: runtime.namespace,
    signingKey: ensureSecret(runtime.dataFolder, 'key-signing'),
    logger,
  });
  const feedback = createFeedbackStore({ url: weaviateUrl, apiKey: weaviateApiKey, namespace: runtime.namespace });
  const ring = createKeyRing({ store: keys, clock });
  const keyUse = createKeyUse({ redis, namespace: runtime.namespace, clock });
  const { api } = config;
  const deps: ApiDeps = {
    store,
    retrieval,
    tokenizer: embedder.queryTokenizer,
    queue: queueView(jobs, others, createConsumption({ jobs, clock })),
    control: controlView(control, others),
    sources: config.sources.map(({ name, path }) => ({ name, path })),
    configuredAccess(source, path) {
      // A source that is no longer configured says nothing; then only the highest clearance may know.
      if (!views.has(source)) return { security_level: 5 };
      const { schema, matchingRules, source: said } = policy.of(source, path);
      return resolveAccess({ schema, matchingRules, sourceMetadata: said.metadata });
    },
    async accessOfNewFile(name, path) {
      const source = views.get(name);
      return source === undefined ? { security_level: 5 } : accessOfNewFile(ingestion, source, path);
    },
    catalog,
    settings: {
      allowedHosts: [api.host, ...api.allowedHosts],
      corsOrigins: api.corsOrigins,
      callsAtOnce: api.callsAtOnce,
      bodyBytes: api.bodyBytes,
    },
    ring,
    feedback,
    keyUse,
    identify: createGate({
      ring,
      onUse: keyUse.touch,
      clock,
      operatorToken: ensureSecret(runtime.dataFolder, 'operator-token'),
      anyOrigin: api.corsOrigins.includes('*'),
      anonymous: api.anonymous,
      anonymousClearance: api.anonymousClearance,
      calls: { perSecond: api.callsPerS, burst: api.callsBurst },
      badKeys: { perSecond: api.badKeysPerMin / 60, burst: api.badKeysBurst },
    }),
    clock,
    logger,
    metrics,
    instanceMetrics: () => instanceMetrics(runtime.metricsFolder, metrics),
    processes: async () => {
      const runFile = await readRunFile(runtime.dataFolder);
      const self = [{ role: 'api', pid: process.pid, restarts: 0 }];
      return runFile?.processes.map(({ role, pid, restarts }) => ({ role, pid, restarts })) ?? self;
    },
    addresses: async () => ({
      redis: withoutPassword(redisUrl),
      weaviate: withoutPassword(weaviateUrl),
      api: (await readRunFile(runtime.dataFolder))?.api ?? `http://${api.host}:${api.port}`,
    }),
    async checkModel() {
      await (embedder.checkReady?.() ?? embedder.embed(['ready']));
    },
    models: createModelControl({
      config,
      env,
      weaviate: { url: weaviateUrl, apiKey: weaviateApiKey },
      generations,
      answering: live,
      clock,
    }),
    discard: (document) => discardDocument(ingestion, document),
    removeSource: (name, mayRemove) => removeSource(ingestion, name, mayRemove),
    verify: (options) =>
      verify(
        {
          store,
          logger,
          files,
          policy,
          source: (name) => views.get(name),
          clock,
          settings,
          repair: (request) => jobs.add(request, 'interactive'),
          sources: () => [...views.values()],
          listFiles: (source, onUnreadable) => listPaths(files, source, config.sources, onUnreadable),
          pending: (docUuids) => jobs.pending(docUuids),
        },
        options,
      ),
    explain: createExplain({ files, sources: config.sources, views, policy }),
    boards: createBoards(jobs),
  };
  return {
    deps,
    async close() {
      await jobs.close();
      await embedder.close();
      await closeReranker();
      keys.close();
      feedback.close();
      await store.close();
      redis.disconnect();
    },
  };
}

/** The API parses nothing: it writes commits of what is stored already. */
const noReader: DocumentReader = {
  read: () => Promise.reject(new SluiceError('internal', 'the API reads no documents')),
  close: () => Promise.resolve(),
};

function queueView(jobs: ReconcileJobs, others: OtherIndexes, consuming: () => Promise<boolean>): ApiDeps['queue'] {
  return {
    add: jobs.add,
    async addBulk(requests, urgency) {
      await jobs.addBulk(requests, urgency);
      await others.each(({ queue }) => queue.addBulk(requests, 'bulk'));
    },
    counts: async () => ({ reconcile: { ...(await jobs.counts()) } }),
    pending: jobs.pending,
    pendingDocuments: (limit) => jobs.pendingDocuments({ limit }),
    async pause() {
      await jobs.pause();
      await others.each(({ queue }) => queue.pause());
    },
    async resume() {
      await jobs.resume();
      await others.each(({ queue }) => queue.resume());
    },
    isPaused: jobs.isPaused,
    async ping() {
      await jobs.isPaused();
    },
    consuming,
    standingWorkers: jobs.standingWorkers,
  };
}

function controlView(control: Control, others: OtherIndexes): ApiDeps['control'] {
  return {
    ...control,
    async requestScan(source) {
      const request = await control.requestScan(source);
      await others.each((other) => other.control.requestScan(source));
      return request;
    },
    async acceptRoot(source) {
      await control.acceptRoot(source);
      await others.each((other) => other.control.acceptRoot(source));
    },
  };
}

/**
 * The operators' view of the queue: to look at under /ops/queues, to act under /ops/queues/manage. Retrying a job is not among the
 * acts: it would pass the rule of one job a document by, which `dlq retry` keeps.
 */
function createBoards(jobs: ReconcileJobs): NonNullable<ApiDeps['boards']> {
  const board = (prefix: string, readOnlyMode: boolean) => {
    const serverAdapter = new FastifyAdapter();
    serverAdapter.setBasePath(prefix);
    const queue = new BullMQAdapter(jobs.board, { readOnlyMode, allowRetries: false });
    // Whoever may look at the queue may not see every document: a job shows the document's id, whose name the API tells to those who may.
    queue.setFormatter('data', withoutPath);
    createBullBoard({ queues: [queue], serverAdapter });
    return { prefix, plugin: serverAdapter.registerPlugin() };
  };
  return [board('/ops/queues', true), board('/ops/queues/manage', false)];
}

function withoutPath(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('source' in data) || !('path' in data)) return {};
  const { source, path, ...rest } = data;
  return { source, id: docUuid(makeDocId(String(source), String(path))), ...rest };
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.toString().replace(/\/$/, '');
}
