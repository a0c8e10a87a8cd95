import { type StoredKey, sha256 } from '@sluice/core';
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

it('keeps keys across processes, oldest first, and revokes one alone', async () => {
  const [one, other] = [createKeyStore({ url: url(), namespace }), createKeyStore({ url: url(), namespace })];
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
