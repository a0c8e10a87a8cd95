import type { ChunkStore } from '@sluice/core';
import { createStore } from '../src/index.js';
import { collectionNames } from '../src/names.js';
import type { StoreOptions } from '../src/store.js';

let number = 0;

/** A store with collections of its own on a real Weaviate, and what removes them. */
export function createTestStore(
  url: string,
  options: Partial<StoreOptions> & { dimensions: number },
): { store: ChunkStore; options: StoreOptions; remove: () => Promise<void> } {
  const namespace = `t${process.pid}x${Date.now().toString(36)}n${number++}`;
  const all: StoreOptions = {
    url,
    namespace,
    collection: 'test',
    fields: { year: 'int', price: 'number', quarter: 'text', draft: 'boolean', due: 'date', labels: 'text[]' },
    ...options,
  };
  return {
    store: createStore(all),
    options: all,
    async remove() {
      for (const name of Object.values(collectionNames(all.namespace, all.collection))) {
        await fetch(`${url}/v1/schema/${name}`, { method: 'DELETE' });
      }
    },
  };
}
