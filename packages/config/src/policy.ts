import { chunkerIdentity } from '@sluice/chunking';
import { createPolicy, type Policy } from '@sluice/ingestion';
import { llmId } from '@sluice/llm';
import type { ModelIdentity } from '@sluice/models';
import { createParserRegistry } from '@sluice/parsers';
import type { Config } from './config.js';

/** The policy of a configuration: one way to make it, so that watcher, worker and API compute the same fingerprints. */
export function createConfiguredPolicy(config: Config, model: ModelIdentity): Policy {
  const registry = createParserRegistry();
  const llm = config.llm === undefined ? undefined : { id: llmId(config.llm) };
  return createPolicy({
    sources: config.sources,
    schema: config.schema,
    limits: config.limits,
    versions: {
      registry: registry.version,
      parser: (format) => registry.versionOf(format),
      chunker: (settings) => chunkerIdentity(settings, llm),
      embedder: `${model.id}:${model.tokenizer}`,
    },
  });
}
