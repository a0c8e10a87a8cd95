import type { Config } from './config.js';

/** Where the launcher found or started what its processes need. */
export interface Services {
  redisUrl: string;
  weaviateUrl: string;
  /** Key of that Weaviate, where it wants one. */
  weaviateApiKey?: string | undefined;
  /** Undefined for a model behind an endpoint. */
  modelFolder: string | undefined;
  /** The port the API is to listen on. */
  port: number;
}

/**
 * Variables that make loadConfig in a child process give the same configuration, with the services filled in. They go on top of the
 * launcher's own environment, which holds what a configuration names (passwords, keys).
 */
export function childEnvironment(config: Config, services: Services): Record<string, string> {
  const { runtime } = config;
  return {
    SLUICE_DATA: runtime.dataFolder,
    ...(config.file === undefined ? {} : { SLUICE_CONFIG: config.file }),
    SLUICE_SOURCES: JSON.stringify(config.sources.map(({ name, path }) => ({ name, path }))),
    SLUICE_NAMESPACE: runtime.namespace,
    SLUICE_LOG_LEVEL: runtime.logLevel,
    SLUICE_OFFLINE: runtime.offline ? '1' : '0',
    SLUICE_HOST: config.api.host,
    SLUICE_PORT: String(services.port),
    ...(services.modelFolder === undefined ? {} : { SLUICE_MODEL: services.modelFolder }),
    REDIS_URL: services.redisUrl,
    WEAVIATE_URL: services.weaviateUrl,
    WEAVIATE_API_KEY: services.weaviateApiKey ?? '',
  };
}
