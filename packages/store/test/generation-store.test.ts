import { testServices } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import { createGenerationStore, createStore } from '../src/index.js';
import { collectionNames } from '../src/names.js';

const url = () => testServices().weaviate;
const namespace = `g${process.pid}x${Date.now().toString(36)}`;
const drop = (name: string) => fetch(`${url()}/v1/schema/${name}`, { method: 'DELETE' });

afterAll(() => drop(collectionNames(namespace, '').generations));

it('keeps versions across processes; of two writers that saw the same one only one succeeds', async () => {
  const [one, other] = [createGenerationStore({ url: url(), namespace }), createGenerationStore({ url: url(), namespace })];
  expect(await one.read()).toBeUndefined();
  const writes = await Promise.allSettled([
    one.write({ version: 1, text: '{"by":"one"}' }),
    other.write({ version: 1, text: '{"by":\n"other"}' }),
  ]);
  expect(writes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const lost = writes.find((write) => write.status === 'rejected');
  expect(lost?.reason).toMatchObject({ code: 'conflict' });
  const winner = writes[0]?.status === 'fulfilled' ? '{"by":"one"}' : '{"by":\n"other"}';
  expect(await other.read()).toEqual({ version: 1, text: winner });
  for (const version of [2, 3, 4]) await one.write({ version, text: `v${version}` });
  expect(await other.read()).toEqual({ version: 4, text: 'v4' });
  await expect(other.write({ version: 3, text: 'late' })).rejects.toMatchObject({ code: 'conflict' });
  await expect(other.write({ version: 1, text: 'very late' })).rejects.toMatchObject({ code: 'conflict' });
  expect(await other.read()).toEqual({ version: 4, text: 'v4' });
  one.close();
  other.close();
});

it('lists the collections of models, of this instance alone, and drops them', async () => {
  const store = createGenerationStore({ url: url(), namespace });
  const open = (own: string) => createStore({ url: url(), namespace: own, collection: 'small-0123456789', dimensions: 3 });
  const [mine, theirs] = [open(namespace), open(`${namespace}b`)];
  await Promise.all([mine.ensureSchema(), theirs.ensureSchema()]);
  const names = store.namesOf('small-0123456789');
  expect((await store.collections()).sort()).toEqual([...names].sort());
  await store.drop(names);
  expect(await store.collections()).toEqual([]);
  await theirs.checkSchema();
  await Promise.all(
    createGenerationStore({ url: url(), namespace: `${namespace}b` })
      .namesOf('small-0123456789')
      .map(drop),
  );
  await Promise.all([mine.close(), theirs.close()]);
  store.close();
});
