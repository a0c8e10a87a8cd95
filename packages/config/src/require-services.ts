import { SluiceError } from '@sluice/core';
import { type ModelChoice, type ModelIdentity, modelIdentity, resolveModel } from '@sluice/models';
import type { Config } from './config.js';

/** What a process of the instance cannot do without. */
export interface RequiredServices {
  redisUrl: string;
  weaviateUrl: string;
  /** Key of that Weaviate; undefined: it wants none. */
  weaviateApiKey: string | undefined;
  /** The embedding model; one that runs here has its folder. */
  model: ModelChoice;
  identity: ModelIdentity;
}

/**
 * The addresses that the launcher hands to its processes, or that whoever starts one by hand sets.
 *
 * @throws SluiceError `invalid_configuration` naming the variable that is missing
 */
export async function requireServices(config: Config): Promise<RequiredServices> {
  const { redisUrl, weaviateUrl, weaviateApiKey } = config.runtime;
  const model = await modelChoice(config);
  const lacksModel = model.endpoint === undefined && model.folder === undefined;
  const missing = [
    ...(redisUrl === undefined ? ['REDIS_URL'] : []),
    ...(weaviateUrl === undefined ? ['WEAVIATE_URL'] : []),
    ...(lacksModel ? ['SLUICE_MODEL (a folder)'] : []),
  ];
  if (redisUrl === undefined || weaviateUrl === undefined || lacksModel) {
    throw new SluiceError(
      'invalid_configuration',
      `${missing.join(', ')} must be set; "npm start" and "sluice up" do that for every process`,
    );
  }
  return { redisUrl, weaviateUrl, weaviateApiKey, model, identity: await modelIdentity(model) };
}

/** The configured embedding model. @param folder of its files, where the configuration does not know it */
export async function modelChoice({ embedding }: Config, folder?: string): Promise<ModelChoice> {
  const { path, ...choice } = embedding;
  return resolveModel({ ...choice, folder: folder ?? path });
}
