import { docUuid, SluiceError } from '@sluice/core';
import { createGraphql } from './graphql.js';
import { createHttp, reasonOf } from './http.js';
import { collectionNames } from './names.js';
import { createObjectWriter, newObject, removeObjects } from './objects.js';
import { createResultLimit } from './result-limit.js';
import { describeGenerations, ensureCollections } from './schema.js';
import { createWalk } from './walk.js';

/** A version of the instance's generations: which collections answer, are built, or are kept. */
interface StoredGenerations {
  /** Grows by one with every version. */
  version: number;
  /** What the caller wrote. */
  text: string;
}

export interface GenerationStore {
  /** The newest version; undefined before the first. */
  read(): Promise<StoredGenerations | undefined>;
  /**
   * Adds a version. A version is one object of an id of its own, inserted once: of two writers that saw the same one only one succeeds.
   * Error `conflict` for the other.
   */
  write(next: StoredGenerations): Promise<void>;
  /** Names of all collections that hold documents of this instance, each with the key of its model as names write it. */
  collections(): Promise<string[]>;
  /** Names of the collections of a model. */
  namesOf(model: string): string[];
  /** Removes collections with all they hold. */
  drop(names: readonly string[]): Promise<void>;
  close(): void;
}

/** Versions that stay: the newest and the one before it. */
const KEPT = 2;
const CHANGED = 'The models of this instance were changed at the same time: try again.';

/** Where an instance remembers its generations: in the store, since Redis may be flushed at any time. */
export function createGenerationStore(options: { url: string; apiKey?: string | undefined; namespace: string }): GenerationStore {
  const { namespace } = options;
  const names = collectionNames(namespace, '');
  const collection = names.generations;
  const http = createHttp(options.url, options.apiKey);
  const graphql = createGraphql(http);
  const maxResults = createResultLimit(graphql, collection);
  const walk = createWalk(graphql, maxResults);
  const writer = createObjectWriter({ http });
  let ready: Promise<void> | undefined;

  function ensure(): Promise<void> {
    ready ??= ensureCollections(http, [describeGenerations(collection)]).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  }

  const idOf = (version: number) => docUuid(`generations/${version}`);

  async function readAll(): Promise<StoredGenerations[]> {
    await ensure();
    const found: StoredGenerations[] = [];
    for await (const rows of walk(collection, 'state _additional{id}', { size: 100 })) {
      for (const { state } of rows) {
        const [version, text] = typeof state === 'string' ? (state.match(/^(\d+) (.*)$/s)?.slice(1) ?? []) : [];
        if (version !== undefined && text !== undefined) found.push({ version: Number(version), text });
      }
    }
    return found.sort((a, b) => b.version - a.version);
  }

  return {
    read: async () => (await readAll())[0],

    async write({ version, text }) {
      await ensure();
      try {
        await writer.insert([
          newObject(collection, { id: idOf(version), docId: 'generations', properties: { state: `${version} ${text}` } }),
        ]);
      } catch (cause) {
        if (!(cause instanceof SluiceError) || cause.code !== 'store_rejected') throw cause;
        throw new SluiceError('conflict', CHANGED, { cause });
      }
      const all = await readAll();
      // A writer that slept until its version had come and gone: what it wrote is below the newest.
      if (all[0]?.version !== version) throw new SluiceError('conflict', CHANGED);
      const old = all.slice(KEPT).map((one) => idOf(one.version));
      if (old.length > 0) await removeObjects(http, maxResults, collection, old);
    },

    async collections() {
      const answer = await http.send('GET', '/v1/schema', undefined, { repeatable: true });
      const { classes = [] } = (answer.body ?? {}) as { classes?: { class: string }[] }; // Weaviate's answer for a schema
      const prefixes = [names.chunks, names.commits, names.pages];
      return classes
        .map((one) => one.class)
        .filter((name) => prefixes.some((prefix) => name.startsWith(prefix) && name !== prefix));
    },

    namesOf(model) {
      const { chunks, commits, pages } = collectionNames(namespace, model);
      return [chunks, commits, pages];
    },

    async drop(doomed) {
      for (const name of doomed) {
        const answer = await http.send('DELETE', `/v1/schema/${name}`);
        if (answer.status !== 200)
          throw new SluiceError('store_unavailable', `${name} could not be removed: ${reasonOf(answer)}`);
      }
    },

    close: () => http.close(),
  };
}
