import { SluiceError } from '@sluice/core';
import type { Config } from './config.js';

/** What a process of the instance cannot do without. */
interface RequiredServices {
  redisUrl: string;
  weaviateUrl: string;
  /** Key of that Weaviate; undefined: it wants none. */
  weaviateApiKey: string | undefined;
  /** Folder of the embedding model's files. */
  modelFolder: string;
}

/**
 * The addresses that the launcher hands to its processes, or that whoever starts one by hand sets.
 *
 * @throws SluiceError `invalid_configuration` naming the variable that is missing
 */
export function requireServices(config: Config): RequiredServices {
  const { redisUrl, weaviateUrl, weaviateApiKey, modelFolder } = config.runtime;
  const missing = [
    ...(redisUrl === undefined ? ['REDIS_URL'] : []),
    ...(weaviateUrl === undefined ? ['WEAVIATE_URL'] : []),
    ...(modelFolder === undefined ? ['SLUICE_MODEL (a folder)'] : []),
  ];
  if (redisUrl === undefined || weaviateUrl === undefined || modelFolder === undefined) {
    throw new SluiceError(
      'invalid_configuration',
      `${missing.join(', ')} must be set; "npm start" and "sluice up" do that for every process`,
    );
  }
  return { redisUrl, weaviateUrl, weaviateApiKey, modelFolder };
}
