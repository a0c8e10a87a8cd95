import { createHmac, timingSafeEqual } from 'node:crypto';
import { docUuid, type KeyStore, type StoredKey } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
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
  /** Signs the keys. Who can write to Weaviate, but does not have it, can make no key. */
  signingKey: string;
  logger?: Logger;
}

/**
 * Keys of the API in Weaviate. Its collection is made when it is first needed. Each is stored as `<mac> <JSON>`: the MAC is HMAC-SHA256
 * over namespace and JSON, in base64url. What has no valid one is no key.
 */
export function createKeyStore(options: KeyStoreOptions): KeyStore & { close(): void } {
  const collection = collectionNames(options.namespace, '').keys;
  const http = createHttp(options.url, options.apiKey);
  const graphql = createGraphql(http);
  const maxResults = createResultLimit(graphql, collection);
  const walk = createWalk(graphql, maxResults);
  const writer = createObjectWriter({ http });
  let ready: Promise<void> | undefined;

  async function ensure(): Promise<void> {
    ready ??= ensureCollections(http, [describeKeys(collection)]).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  }

  const uuidOf = (id: string) => docUuid(`key/${id}`);
  const macOf = (text: string) =>
    createHmac('sha256', options.signingKey).update(`${options.namespace}\n${text}`).digest('base64url');

  /** The key that an object holds. A copy under another id is none: revoking the key would not reach it. */
  function readKey(text: string, uuid: unknown): StoredKey | undefined {
    const end = text.indexOf(' ');
    const [given, wanted] = [Buffer.from(text.slice(0, Math.max(end, 0))), Buffer.from(macOf(text.slice(end + 1)))];
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    const key = JSON.parse(text.slice(end + 1)) as StoredKey; // signed, so insert() wrote it
    return uuidOf(key.id) === uuid ? key : undefined;
  }

  return {
    async list() {
      await ensure();
      const keys: StoredKey[] = [];
      for await (const rows of walk(collection, 'key _additional{id}', { first: 8, size: 500 })) {
        for (const row of rows) {
          const key = typeof row.key === 'string' ? readKey(row.key, row._additional?.id) : undefined;
          if (key !== undefined) keys.push(key);
          else options.logger?.warn({ id: row._additional?.id }, 'a stored key was not signed by this instance, and is ignored');
        }
      }
      return keys.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
    },

    async insert(key) {
      await ensure();
      const text = JSON.stringify(key);
      const properties = { key_id: key.id, key: `${macOf(text)} ${text}` };
      await writer.insert([newObject(collection, { id: uuidOf(key.id), docId: `key ${key.id}`, properties })]);
    },

    async revoke(id) {
      await ensure();
      return (await removeObjects(http, maxResults, collection, [uuidOf(id)])) > 0;
    },

    close: () => http.close(),
  };
}
