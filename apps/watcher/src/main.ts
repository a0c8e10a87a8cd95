import { createInstanceGenerations, loadConfig, processEnvironment, requireServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import { keepGenerations } from '@sluice/models';
import { createRedis } from '@sluice/queues';
import { createLogger, createMetrics } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { advanceGenerations } from './advance-generations.js';
import { startGeneration } from './generation.js';

/** Time that a stop may take, ms: what is under way is a few round trips. */
const STOP_MS = 8000;

async function main(): Promise<void> {
  const env = processEnvironment();
  const config = loadConfig({ env, cwd: process.cwd() });
  const { runtime } = config;
  const logger = createLogger({ role: 'watcher', level: runtime.logLevel });
  const metrics = createMetrics({ role: 'watcher', folder: runtime.metricsFolder });
  const services = await requireServices(config);

  const redis = createRedis({
    url: services.redisUrl,
    role: 'producer',
    onError: (error) => logger.debug({ cause: error.message }, 'redis'),
  });
  const generations = createInstanceGenerations(config, services, env);
  const deps = { config, services, redis, logger, metrics };
  const work = keepGenerations({
    read: async () => (await generations.read()).state,
    start: async (generation) => startGeneration(deps, await generations.open(generation)),
    onRead: advanceGenerations({ ...deps, generations, clock: systemClock }),
    clock: systemClock,
    logger,
  });

  closeWithGrace({ delay: STOP_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'watcher ends by a fault');
    await work.stop();
    generations.store.close();
    redis.disconnect();
  });
  await work.start();
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
