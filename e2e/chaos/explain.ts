import { docUuid, topCommit } from '@sluice/core';
import { modelIdentity } from '@sluice/models';
import { createStore } from '@sluice/store';
import { testServices } from '@sluice/testkit';
import type { World } from './world.js';

/** What the store holds of a document and what each of its indexes finds of it: told at the first gap, it shows whose fault the gap is. */
export async function explainDocument(world: World, docId: string): Promise<string> {
  const url = world.services.weaviate.directUrl;
  const { collection } = await modelIdentity({ model: 'Xenova/all-MiniLM-L6-v2', folder: testServices().model, threads: 1 });
  const store = createStore({ url, namespace: world.namespace, collection, dimensions: 384 });
  try {
    const uuid = docUuid(docId);
    const records = (await store.recordsOf([uuid])).get(uuid) ?? [];
    const objects = await store.listObjects(uuid);
    const top = topCommit(records);
    const { entries } = top === undefined ? { entries: [] } : await store.readManifest(top);
    const there = await store.existingChunks(entries.map((entry) => entry.id));
    const found = await askIndexes(url, world.namespace, uuid);
    return JSON.stringify({
      records: records.map(({ fence, base_fence, attempt, status, committed_at, live, superseded, chunks }) => ({
        ...{ fence, base_fence, attempt, status, committed_at, live, superseded, chunks },
      })),
      objects,
      named: entries.map(({ id, rev }) => ({
        ...{ id, rev, there: there.has(id) },
        ...Object.fromEntries(Object.entries(found).map(([how, ids]) => [how, ids.has(id)])),
      })),
      found: Object.fromEntries(Object.entries(found).map(([how, ids]) => [how, ids.size])),
    });
  } finally {
    await store.close();
  }
}

/** Ids of a document's chunks that a filter, a keyword search and a vector search of Weaviate itself find. */
async function askIndexes(url: string, namespace: string, documentUuid: string): Promise<Record<string, Set<string>>> {
  const { classes } = (await (await fetch(`${url}/v1/schema`)).json()) as { classes: { class: string }[] };
  const name = classes.map((one) => one.class).find((one) => one.toLowerCase().startsWith(`${namespace.toLowerCase()}chunk`));
  if (name === undefined) return {};
  const where = `where:{path:["doc_uuid"],operator:Equal,valueText:"${documentUuid}"},limit:1000`;
  const ask = async (args: string): Promise<Set<string>> => {
    const query = `{Get{${name}(${args}){_additional{id}}}}`;
    const answer = await fetch(`${url}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const { data } = (await answer.json()) as { data: { Get: Record<string, { _additional: { id: string } }[]> } };
    return new Set((data.Get[name] ?? []).map((row) => row._additional.id));
  };
  const vector = Array.from({ length: 384 }, () => 0.05).join(',');
  return {
    filter: await ask(where),
    keyword: await ask(`bm25:{query:"mark part version",properties:["search_text"]},${where}`),
    dense: await ask(`nearVector:{vector:[${vector}]},${where}`),
  };
}
