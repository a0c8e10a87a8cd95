import { ensureSecret } from '@sluice/config';

/** What the services of an instance ask of their callers. */
export interface Credentials {
  redisPassword: string;
  /** Sent to Weaviate as a Bearer key. */
  weaviateKey: string;
  /** Between Weaviate's own nodes, of which there is one. */
  weaviateCluster: string;
}

/** The credentials of a data folder, made when there are none. Each instance has its own. */
export function obtainCredentials(dataFolder: string): Credentials {
  return {
    redisPassword: ensureSecret(dataFolder, 'redis-password'),
    weaviateKey: ensureSecret(dataFolder, 'weaviate-key'),
    weaviateCluster: ensureSecret(dataFolder, 'weaviate-cluster'),
  };
}
