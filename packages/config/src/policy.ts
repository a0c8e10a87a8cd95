import { chunkerVersion } from '@sluice/chunking';
import { createPolicy, type Policy } from '@sluice/ingestion';
import { embedderId } from '@sluice/models';
import { createParserRegistry } from '@sluice/parsers';
import type { Config } from './config.js';

/** The policy of a configuration: one way to make it, so that watcher, worker and API compute the same fingerprints. */
export async function createConfiguredPolicy(config: Config, modelFolder: string): Promise<Policy> {
  const registry = createParserRegistry();
  return createPolicy({
    sources: config.sources,
    schema: config.schema,
    limits: config.limits,
    versions: {
      registry: registry.version,
      parser: (format) => registry.versionOf(format),
      // The configuration has checked that the strategy exists.
      chunker: (strategy) => chunkerVersion(strategy as Parameters<typeof chunkerVersion>[0]),
      embedder: await embedderId(modelFolder),
    },
  });
}
