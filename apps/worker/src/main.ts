import { createInstanceGenerations, loadConfig, processEnvironment, requireServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import { keepGenerations } from '@sluice/models';
import { checkRedis, createRedis } from '@sluice/queues';
import { createLogger, createMetrics } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { STOP_MS, startGeneration } from './generation.js';

async function main(): Promise<void> {
  const env = processEnvironment();
  const config = loadConfig({ env, cwd: process.cwd() });
  const { runtime } = config;
  const logger = createLogger({ role: 'worker', level: runtime.logLevel });
  const metrics = createMetrics({ role: 'worker', folder: runtime.metricsFolder });
  const services = await requireServices(config);

  const redis = createRedis({
    url: services.redisUrl,
    role: 'producer',
    onError: (error) => logger.debug({ cause: error.message }, 'redis'),
  });
  await checkRedis(redis);
  const generations = createInstanceGenerations(config, services, env);
  const work = keepGenerations({
    read: async () => (await generations.read()).state,
    async start(generation, isLive) {
      return startGeneration({ config, services, redis, logger, metrics }, await generations.open(generation), isLive);
    },
    clock: systemClock,
    logger,
  });
  await work.start();
  logger.info({ sources: config.sources.map((source) => source.name) }, 'worker is ready');

  closeWithGrace({ delay: STOP_MS + 8_000, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'worker ends by a fault');
    await work.stop();
    generations.store.close();
    redis.disconnect();
  });
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
