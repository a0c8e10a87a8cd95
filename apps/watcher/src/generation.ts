import { createConfiguredPolicy, type InstanceGenerations, type loadConfig, type RequiredServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import type { GenerationWork } from '@sluice/models';
import { createControl, createReconcileQueue, type createRedis } from '@sluice/queues';
import { createNodeFiles } from '@sluice/sources';
import { createStore } from '@sluice/store';
import type { Logger, Metrics } from '@sluice/telemetry';
import { createWatcherApp } from './app.js';
import { createLedWatcher } from './lead.js';
import type { WatcherDeps } from './watched-source.js';

export interface GenerationDeps {
  config: ReturnType<typeof loadConfig>;
  services: RequiredServices;
  redis: ReturnType<typeof createRedis>;
  logger: Logger;
  metrics: Metrics;
}

/** Watches the folders for one model: differences between the disk and its collections become jobs of its queue. */
export async function startGeneration(
  { config, services, redis, logger, metrics }: GenerationDeps,
  { identity, queueNamespace }: Awaited<ReturnType<InstanceGenerations['open']>>,
): Promise<GenerationWork> {
  const { runtime } = config;
  const queue = createReconcileQueue({ redis, namespace: queueNamespace, settings: config.queue, logger });
  const store = createStore({
    url: services.weaviateUrl,
    apiKey: services.weaviateApiKey,
    namespace: runtime.namespace,
    collection: identity.collection,
    // Only records are read here, which have no vectors.
    dimensions: 0,
    fields: config.schema.fields,
    logger,
  });
  const policy = createConfiguredPolicy(config, identity);
  const control = createControl({ redis, namespace: queueNamespace });
  const watched: WatcherDeps = {
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
  const app = createLedWatcher({ control, clock: systemClock, logger, make: () => createWatcherApp(watched) });

  await app.start();
  return {
    async stop() {
      await app.stop();
      await queue.close();
      await store.close();
    },
  };
}
