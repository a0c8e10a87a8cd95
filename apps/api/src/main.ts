import { loadConfig, processEnvironment } from '@sluice/config';
import { createLogger } from '@sluice/telemetry';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.js';
import { requireKeyToBind } from './bind.js';
import { compose } from './compose.js';

/** How long requests that run may take to end, ms. */
const STOP_MS = 10_000;
const FLUSH_MS = 5_000;

async function main(): Promise<void> {
  const env = processEnvironment();
  const config = loadConfig({ env, cwd: process.cwd() });
  const logger = createLogger({ role: 'api', level: config.runtime.logLevel });
  const { deps, close } = await compose(config, logger, env);
  const app = await buildApp(deps);
  await requireKeyToBind(config.api, deps);
  await app.listen({ host: config.api.host, port: config.api.port });
  const flushing = setInterval(() => {
    deps.metrics.flush().catch((cause: unknown) => logger.warn({ cause: String(cause) }, 'metrics could not be written'));
  }, FLUSH_MS);

  closeWithGrace({ delay: STOP_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) logger.fatal({ cause: err.message, stack: err.stack }, 'the API ends by a fault');
    clearInterval(flushing);
    await app.close();
    await close();
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
