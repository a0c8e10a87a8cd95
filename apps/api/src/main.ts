import { createInstanceGenerations, loadConfig, processEnvironment, requireServices } from '@sluice/config';
import { systemClock } from '@sluice/core';
import { createLogger, createMetrics } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.js';
import { requireKeyToBind } from './bind.js';
import { compose } from './compose.js';
import type { OpsTasks } from './schemas/tasks.js';
import { serve } from './serve.js';
import { createTasks } from './tasks.js';

/** How long requests that run may take to end, ms. */
const STOP_MS = 10_000;
const FLUSH_MS = 5_000;

async function main(): Promise<void> {
  const env = processEnvironment();
  const config = loadConfig({ env, cwd: process.cwd() });
  const logger = createLogger({ role: 'api', level: config.runtime.logLevel });
  const metrics = createMetrics({ role: 'api', folder: config.runtime.metricsFolder });
  const services = await requireServices(config);
  const generations = createInstanceGenerations(config, services, env);
  const tasks: OpsTasks = createTasks();
  const serving = await serve({
    api: config.api,
    generations,
    async open(live) {
      const { deps, close } = await compose({ config, logger, env, metrics, services, generations }, live);
      return { app: await buildApp(deps, tasks), deps, close };
    },
    beforeListening: ({ deps }) => requireKeyToBind(config.api, deps),
    clock: systemClock,
    logger,
  });
  const flushing = setInterval(() => {
    metrics.flush().catch((cause: unknown) => logger.warn({ cause: String(cause) }, 'metrics could not be written'));
  }, FLUSH_MS);

  closeWithGrace({ delay: STOP_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'the API ends by a fault');
    clearInterval(flushing);
    await serving.stop();
    await metrics.flush();
    generations.store.close();
  });
}

main().catch((cause: unknown) => {
  createLogger({ role: 'api' }).fatal(
    { cause: cause instanceof Error ? cause.message : String(cause), stack: cause instanceof Error ? cause.stack : undefined },
    'the API could not start',
  );
  process.exitCode = 1;
  setImmediate(() => process.exit(1));
});
