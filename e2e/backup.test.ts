import { cp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

// docs/running.md, "Backup and restore", as it is written there.

/** Services of its own, found as a user's start finds them: their data is what is backed up. */
const OWN_SERVICES = { REDIS_URL: '', WEAVIATE_URL: '', XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? '' };

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice({ env: OWN_SERVICES });
});
afterAll(() => sluice.close());

it('a data folder that is put back answers at once, and the scan makes up for what has changed since', async () => {
  await sluice.write('kept.txt', 'The lighthouse at Varn has a green lamp.');
  await sluice.write('edited.txt', 'The ferry leaves at nine.');
  await sluice.write('removed.txt', 'The bakery sells rye.');
  await sluice.up();
  await sluice.settle();
  await sluice.down();
  const backup = join(sluice.base, 'backup');
  await cp(sluice.data, backup, { recursive: true });

  await sluice.up();
  await sluice.write('edited.txt', 'The ferry leaves at eleven.');
  await sluice.write('added.txt', 'The museum is closed on Mondays.');
  await sluice.remove('removed.txt');
  await sluice.settle();
  await sluice.down();

  await rm(sluice.data, { recursive: true });
  await cp(backup, sluice.data, { recursive: true });
  const secrets = await readdir(join(sluice.data, 'secrets'));
  expect(secrets).toEqual(expect.arrayContaining(['redis-password', 'weaviate-key', 'weaviate-cluster']));
  for (const name of secrets) expect((await stat(join(sluice.data, 'secrets', name))).mode & 0o777, name).toBe(0o600);
  await sluice.up();
  // What was in the backup needs no work: it is there, and was not embedded again.
  expect(await sluice.find('lighthouse')).toEqual(['inbox/kept.txt']);
  await sluice.settle();
  expect(await sluice.metric('sluice_embeddings_computed_total')).toBe(2);
  expect(await sluice.find('eleven')).toEqual(['inbox/edited.txt']);
  expect(await sluice.find('nine')).toEqual([]);
  expect(await sluice.find('museum')).toEqual(['inbox/added.txt']);
  expect(await sluice.find('bakery')).toEqual([]);
  expect(await sluice.verify()).toMatchObject({ differences: 0 });
}, 300_000);
