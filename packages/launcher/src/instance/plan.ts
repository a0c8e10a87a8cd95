import { type Config, childEnvironment } from '@sluice/config';
import type { Environment } from '../system/workplace.js';
import type { InstancePlan } from './instance.js';

/** What an instance is made of, from its configuration. */
export function planInstance(config: Config, given: { env: Environment; cwd: string }): InstancePlan {
  return {
    dataFolder: config.runtime.dataFolder,
    cwd: given.cwd,
    env: given.env,
    appEnvironment: ({ redis, weaviate, weaviateKey, api, modelFolder }) =>
      childEnvironment(config, {
        redisUrl: redis,
        weaviateUrl: weaviate,
        weaviateApiKey: weaviateKey,
        modelFolder,
        port: Number(new URL(api).port),
      }),
    namespace: config.runtime.namespace,
    api: { host: config.api.host, port: config.api.port, portIsDefault: !config.api.portIsSet },
    model:
      config.embedding.endpoint === undefined
        ? { name: config.embedding.model, choice: config.embedding.path ?? config.runtime.provision.model }
        : undefined,
  };
}
