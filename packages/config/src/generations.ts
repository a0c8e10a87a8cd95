import { SluiceError } from '@sluice/core';
import {
  followedGenerations,
  type Generation,
  type Generations,
  generationSchema,
  generationsSchema,
  type ModelChoice,
  type ModelIdentity,
  modelIdentity,
} from '@sluice/models';
import { createGenerationStore, type GenerationStore } from '@sluice/store';
import type { Config, Environment } from './config.js';
import type { RequiredServices } from './require-services.js';

/** What a process needs to work for a generation. */
interface GenerationAccess {
  model: ModelChoice;
  identity: ModelIdentity;
  /** Prefix of its keys in Redis. */
  queueNamespace: string;
}

/** The instance's generations, as a process of this configuration follows them. */
export interface InstanceGenerations {
  /** What the store holds, with its version; 0 where it holds nothing. */
  read(): Promise<{ version: number; state: Generations }>;
  /** Replaces what `read` gave. Error `conflict` when another one did so first. */
  write(version: number, state: Generations): Promise<void>;
  open(generation: Generation): Promise<GenerationAccess>;
  store: GenerationStore;
  /** The generation that sluice.yaml names. */
  configured: Generation;
}

/** @param env where keys of endpoints are found */
export function createInstanceGenerations(config: Config, services: RequiredServices, env: Environment): InstanceGenerations {
  const { namespace } = config.runtime;
  const store = createGenerationStore({ url: services.weaviateUrl, apiKey: services.weaviateApiKey, namespace });
  const configured = generationOf(services.model, services.identity, config.embedding.endpoint?.apiKeyEnv);
  return {
    store,
    configured,
    async read() {
      const stored = await store.read();
      const state = stored === undefined ? undefined : generationsSchema.parse(JSON.parse(stored.text));
      return { version: stored?.version ?? 0, state: followedGenerations(state, configured) };
    },
    write: (version, state) => store.write({ version: version + 1, text: JSON.stringify(state) }),
    async open({ collection, queue, endpoint, ...choice }) {
      const apiKey = endpoint?.apiKeyEnv === undefined ? undefined : env[endpoint.apiKeyEnv];
      const model: ModelChoice = {
        ...choice,
        threads: config.embedding.threads,
        ...(endpoint === undefined ? {} : { endpoint: { ...endpoint, apiKey } }),
      };
      const identity = await modelIdentity(model);
      if (identity.collection !== collection) {
        throw new SluiceError(
          'model_unavailable',
          `The files of ${model.model} in ${model.folder} are no longer those of its index.`,
        );
      }
      return { model, identity, queueNamespace: namespace + queue };
    },
  };
}

/** A model as a generation, for the queue that an instance begins with. Keys of endpoints are left out. */
export function generationOf(model: ModelChoice, identity: ModelIdentity, apiKeyEnv?: string): Generation {
  const { threads: _threads, endpoint, ...choice } = model;
  const { apiKey: _apiKey, ...address } = endpoint ?? {};
  const generation = {
    ...choice,
    collection: identity.collection,
    queue: '',
    ...(endpoint === undefined ? {} : { endpoint: { ...address, apiKeyEnv } }),
  };
  // As it comes back from the store: without what is undefined.
  return generationSchema.parse(JSON.parse(JSON.stringify(generation)));
}
