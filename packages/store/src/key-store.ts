import { docUuid, type KeyStore, type StoredKey } from '@sluice/core';
import { createGraphql } from './graphql.js';
import { createHttp } from './http.js';
import { collectionNames } from './names.js';
import { createObjectWriter, newObject, removeObjects } from './objects.js';
import { createResultLimit } from './result-limit.js';
import { describeKeys, ensureCollections } from './schema.js';
import { createWalk } from './walk.js';

export interface KeyStoreOptions {
  /** Weaviate's HTTP address. */
  url: string;
  /** Key of a Weaviate that wants one. */
  apiKey?: string | undefined;
  /** Prefix of this instance's collections. */
  namespace: string;
}

/** Keys of the API in Weaviate. Its collection is made when it is first needed. */
export function createKeyStore(options: KeyStoreOptions): KeyStore & { close(): void } {
  const collection = collectionNames(options.namespace, '').keys;
  const http = createHttp(options.url, options.apiKey);
  const graphql = createGraphql(http);
  const maxResults = createResultLimit(graphql, collection);
  const walk = createWalk(graphql, maxResults);
  const writer = createObjectWriter({ http, graphql, maxResults });
  const target = { collection, identity: ['key'] };
  let ready: Promise<void> | undefined;

  async function ensure(): Promise<void> {
    ready ??= ensureCollections(http, [describeKeys(collection)]).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  }

  const uuidOf = (id: string) => docUuid(`key/${id}`);

  return {
    async list() {
      await ensure();
      const keys: StoredKey[] = [];
      for await (const rows of walk(collection, 'key _additional{id}', { first: 8, size: 500 })) {
        for (const row of rows) if (typeof row.key === 'string') keys.push(JSON.parse(row.key) as StoredKey); // written by insert() alone
      }
      return keys.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
    },

    async insert(key) {
      await ensure();
      const properties = { key_id: key.id, key: JSON.stringify(key) };
      await writer.insert([newObject(target, { id: uuidOf(key.id), docId: `key ${key.id}`, properties })]);
    },

    async revoke(id) {
      await ensure();
      return (await removeObjects(http, maxResults, collection, [uuidOf(id)])) > 0;
    },

    close: () => http.close(),
  };
}
