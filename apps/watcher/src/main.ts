import { createConfiguredPolicy, loadConfig, processEnvironment, requireServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import { createControl, createReconcileQueue, createRedis } from '@sluice/queues';
import { createNodeFiles } from '@sluice/sources';
import { createStore } from '@sluice/store';
import { createLogger, createMetrics } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { createWatcherApp } from './app.js';
import { createLedWatcher } from './lead.js';
import type { WatcherDeps } from './watched-source.js';

/** Time that a stop may take, ms: what is under way is a few round trips. */
const STOP_MS = 8000;

async function main(): Promise<void> {
  const config = loadConfig({ env: processEnvironment(), cwd: process.cwd() });
  const { runtime } = config;
  const logger = createLogger({ role: 'watcher', level: runtime.logLevel });
  const metrics = createMetrics({ role: 'watcher', folder: runtime.metricsFolder });
  const { redisUrl, weaviateUrl, weaviateApiKey, identity } = await requireServices(config);

  const redis = createRedis({
    url: redisUrl,
    role: 'producer',
    onError: (error) => logger.debug({ cause: error.message }, 'redis'),
  });
  const queue = createReconcileQueue({ redis, namespace: runtime.namespace, settings: config.queue, logger });
  const store = createStore({
    url: weaviateUrl,
    apiKey: weaviateApiKey,
    namespace: runtime.namespace,
    collection: identity.collection,
    // Only records are read here, which have no vectors.
    dimensions: 0,
    fields: config.schema.fields,
    logger,
  });
  const policy = createConfiguredPolicy(config, identity);
  const control = createControl({ redis, namespace: runtime.namespace });
  const deps: WatcherDeps = {
    sources: config.sources.map((source) => ({ ...source, mtimeMatters: source.createdAt === 'mtime' })),
    walkRecords: () => store.walkRecords(),
    queue,
    control,
    policyFor(source, path, format) {
      const { fingerprint, configHash } = policy.of(source, path);
      return { fingerprint: fingerprint(format), configHash };
    },
    files: createNodeFiles(),
    clock: systemClock,
    logger,
    metrics,
    stateFolder: runtime.sourcesFolder,
  };
  const app = createLedWatcher({ control, clock: systemClock, logger, make: () => createWatcherApp(deps) });

  closeWithGrace({ delay: STOP_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'watcher ends by a fault');
    await app.stop();
    await queue.close();
    await store.close();
    redis.disconnect();
  });
  await app.start();
  logger.info({ sources: config.sources.map((source) => source.name) }, 'watcher is ready');
}

main().catch((cause: unknown) => {
  // The logger may not exist yet; the supervisor shows and keeps what a process says before it ends.
  createLogger({ role: 'watcher' }).fatal(
    { cause: cause instanceof Error ? cause.message : String(cause), stack: cause instanceof Error ? cause.stack : undefined },
    'watcher could not start',
  );
  process.exitCode = 1;
  setImmediate(() => process.exit(1));
});
