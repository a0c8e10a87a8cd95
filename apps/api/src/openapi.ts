import { systemClock } from '@sluice/core';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { buildApp } from './app.js';
import type { ApiDeps } from './deps.js';

/** The OpenAPI document, made from the routes' own schemas; needs no services. */
export async function describeApi(): Promise<unknown> {
  const parts: Partial<ApiDeps> = {
    sources: [],
    catalog: new Map(),
    settings: { allowedHosts: [], corsOrigins: [], callsAtOnce: 1, bodyBytes: 1024 * 1024 },
    clock: systemClock,
    logger: silentLogger(),
    metrics: createMetrics({ role: 'api' }),
  };
  // No route runs: what they stand on is never touched, but destructured.
  const app = await buildApp({ retrieval: {}, ...parts } as ApiDeps);
  try {
    return app.swagger();
  } finally {
    await app.close();
  }
}
