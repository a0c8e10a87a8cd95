import { type Config, childEnvironment } from '@sluice/config';
import type { ServiceRecord } from '../services/service.js';
import type { Environment } from '../system/workplace.js';

/** What an instance is made of; `planInstance` makes it from the configuration. */
export interface InstancePlan {
  /** Absolute. One instance a data folder. */
  dataFolder: string;
  /** Where relative paths of the command line and the environment begin. */
  cwd: string;
  env: Environment;
  /** What the processes get on top of `env`: the settings that make them see the same configuration. */
  appEnvironment(addresses: Addresses): Record<string, string>;
  /** Prefix of Redis keys and collection names: kept in the data folder, so that the folder may be moved. */
  namespace: string;
  api: { host: string; port: number; portIsDefault: boolean };
  /** Which model is wanted, and from where: `auto`, `hub`, `maven` or a folder. Undefined: it is behind an endpoint. */
  model: { name: string; choice: string } | undefined;
}

export interface Services {
  redis: ServiceRecord;
  weaviate: ServiceRecord;
}

export interface Addresses {
  redis: string;
  weaviate: string;
  /** Key of that Weaviate, where it wants one. */
  weaviateKey?: string | undefined;
  api: string;
  /** Undefined for a model behind an endpoint. */
  modelFolder: string | undefined;
}

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
