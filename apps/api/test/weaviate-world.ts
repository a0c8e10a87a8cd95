import { createStore } from '@sluice/store';
import { dropCollections, testServices } from '@sluice/testkit';
import { createWorld, type World } from './world.js';

let number = 0;

/** The API as in {@link createWorld}, over collections of its own on the real Weaviate. */
export async function createWeaviateWorld(parts: Omit<Parameters<typeof createWorld>[1] & object, 'store'> = {}): Promise<World> {
  const url = testServices().weaviate;
  const namespace = `Api${process.pid}x${Date.now().toString(36)}n${number++}`;
  const store = createStore({
    url,
    namespace,
    collection: 'test',
    dimensions: 64,
    fields: { quarter: 'text', year: 'int' },
    // Documents are written once here: a search need not doubt commits that have just been made.
    readerGraceMs: 0,
  });
  await store.ensureSchema();
  const world = await createWorld({}, { ...parts, store });
  return {
    ...world,
    async close() {
      await world.close();
      await store.close();
      await dropCollections(url, namespace);
    },
  };
}
