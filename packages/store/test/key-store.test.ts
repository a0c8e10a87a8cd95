import { docUuid, type StoredKey, sha256 } from '@sluice/core';
import { testServices } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import { createKeyStore } from '../src/index.js';
import { collectionNames } from '../src/names.js';

const url = () => testServices().weaviate;
const namespace = `k${process.pid}x${Date.now().toString(36)}`;

afterAll(async () => {
  await fetch(`${url()}/v1/schema/${collectionNames(namespace, '').keys}`, { method: 'DELETE' });
});

function keyOf(id: string, rest: Partial<StoredKey> = {}): StoredKey {
  return {
    id,
    name: `key ${id}`,
    hash: sha256(id),
    role: 'reader',
    clearance: 2,
    groups: [],
    created_at: '2024-01-01T00:00:00.000Z',
    ...rest,
  };
}

const open = (signingKey = 'signing key') => createKeyStore({ url: url(), namespace, signingKey });
const send = async (method: 'POST' | 'PUT' | 'GET', path: string, body?: object) => {
  const response = await fetch(`${url()}/v1/objects${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as { id: string; properties: { key_id: string; key: string } };
};

it('keeps keys across processes, oldest first, and revokes one alone', async () => {
  const [one, other] = [open(), open()];
  expect((await Promise.all([one.list(), other.list()])).flat()).toEqual([]);
  const late = keyOf('b', { created_at: '2024-02-01T00:00:00.000Z', groups: ['x', 'ö'], expires_at: '2030-01-01T00:00:00.000Z' });
  const early = keyOf('a', { role: 'operator', clearance: 5 });
  await one.insert(late);
  await one.insert(early);
  expect(await other.list()).toEqual([early, late]);
  await expect(other.insert({ ...early, clearance: 1 })).rejects.toMatchObject({ code: 'store_rejected' });
  expect(await other.revoke('a')).toBe(true);
  expect(await other.revoke('a')).toBe(false);
  expect(await one.list()).toEqual([late]);
  one.close();
  other.close();
});

it('an object that was not signed by this instance, was changed, or was copied is no key', async () => {
  const store = open();
  const collection = collectionNames(namespace, '').keys;
  const good = keyOf('good');
  await store.insert(good);
  await store.insert(keyOf('changed', { clearance: 1 }));
  const stored = async (id: string) => send('GET', `/${collection}/${docUuid(`key/${id}`)}`);
  const forge = async (id: string, key: string, uuid = docUuid(`key/${id}`)) =>
    send('POST', '', { class: collection, id: uuid, properties: { key_id: id, key } });
  const operator = JSON.stringify(keyOf('forged', { role: 'operator', clearance: 5 }));
  await forge('forged', operator);
  await forge('forged2', `${'A'.repeat(43)} ${operator}`);
  await forge('forged3', '');
  // A signed key of which a copy would outlive its revocation.
  await forge('good', (await stored('good')).properties.key, docUuid('key/copy'));
  const changed = await stored('changed');
  const key = changed.properties.key.replace('"clearance":1', '"clearance":5');
  await send('PUT', `/${collection}/${changed.id}`, {
    class: collection,
    id: changed.id,
    properties: { key_id: 'changed', key },
  });
  expect((await store.list()).filter(({ id }) => id !== 'b')).toEqual([good]);
  expect(await store.revoke('good')).toBe(true);
  expect((await store.list()).filter(({ id }) => id !== 'b')).toEqual([]);
  await store.insert(good);
  const other = open('another signing key');
  expect(await other.list()).toEqual([]);
  for (const one of [store, other]) one.close();
});
