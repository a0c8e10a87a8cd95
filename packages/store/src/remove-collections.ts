import { SluiceError } from '@sluice/core';
import { createHttp, reasonOf } from './http.js';
import { collectionNames } from './names.js';

/**
 * Removes every collection of an instance, whatever its models: for instances that were made to be thrown away.
 *
 * @param namespace of the instance
 * @returns how many were removed
 */
export async function removeCollections(url: string, namespace: string, apiKey?: string): Promise<number> {
  const http = createHttp(url, apiKey);
  try {
    const answer = await http.send('GET', '/v1/schema', undefined, { repeatable: true });
    if (answer.status !== 200) throw new SluiceError('store_unavailable', `Weaviate's schema can't be read: ${reasonOf(answer)}`);
    const { classes } = answer.body as { classes: { class: string }[] }; // Weaviate's answer for its schema
    const { keys, feedback, ...ofModels } = collectionNames(namespace, '');
    const isOurs = (name: string) =>
      name === keys || name === feedback || Object.values(ofModels).some((prefix) => name.startsWith(prefix));
    const doomed = classes.map((one) => one.class).filter(isOurs);
    for (const name of doomed)
      await http.send('DELETE', `/v1/schema/${name}`, undefined, { timeoutMs: 60_000, repeatable: true });
    return doomed.length;
  } finally {
    http.close();
  }
}
