import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createReconciler, verify } from '@sluice/ingestion';
import { createNodeFiles, createRootGuard, createSourceView } from '@sluice/sources';

import { expect, it } from 'vitest';
import { createHarness } from './harness.js';

const PATHS = Array.from({ length: 10 }, (_, n) => `${n}.md`);

/** Ten documents, a watcher that knows the root, and workers whose data folders are given by name. */
async function createScaledOut() {
  const h = await createHarness();
  const files = createNodeFiles();
  const stateFolder = (data: string) => join(`${h.root}.data`, data, 'sources');
  const viewOf = (data: string) =>
    createSourceView({
      name: 'inbox',
      root: h.root,
      stabilityMs: 0,
      settings: {},
      stateFolder: stateFolder(data),
      files,
      store: h.store,
    });
  for (const path of PATHS) {
    await h.write(path, `text of ${path}`);
    await h.reconcile(path);
  }
  await createRootGuard({ source: 'inbox', root: h.root, stateFolder: stateFolder('watcher'), files }).check(PATHS);
  return {
    ...h,
    workerOf(data: string) {
      const view = viewOf(data);
      const { reconcile } = createReconciler({ ...h.deps, source: () => view });
      return async (path: string) => (await reconcile({ source: 'inbox', path, cause: 'unlink' })).outcome;
    },
    verifyFrom(data: string) {
      const view = viewOf(data);
      return verify({
        ...h.deps,
        source: () => view,
        sources: () => [view],
        async *listFiles({ root }) {
          yield* await readdir(root);
        },
        pending: async () => new Set(),
        repair: async () => undefined,
      });
    },
    close: () => rm(`${h.root}.data`, { recursive: true }),
  };
}

it('a worker with a data folder of its own deletes what was removed, and keeps what an empty mount hides', async () => {
  const h = await createScaledOut();
  const [shared, own] = [h.workerOf('watcher'), h.workerOf('own')];
  await h.remove('0.md');
  await h.remove('1.md');
  expect([await shared('0.md'), await own('1.md')]).toEqual(['deleted', 'deleted']);
  await rename(h.root, `${h.root}.away`);
  await mkdir(h.root);
  expect([await shared('2.md'), await own('3.md')]).toEqual(['suspended', 'suspended']);
  await rm(h.root, { recursive: true });
  await rename(`${h.root}.away`, h.root);
  await h.remove('2.md');
  // What was suspended is done when the next scan brings it.
  expect([await shared('2.md'), await own('3.md')]).toEqual(['deleted', 'unchanged']);
  await h.close();
});

it('verify from a process with a data folder of its own compares the disk', async () => {
  const h = await createScaledOut();
  await h.remove('0.md');
  expect(await h.verifyFrom('own')).toMatchObject({
    unreachable_sources: [],
    unreadable_paths: 0,
    checked: { files: 9 },
    by_kind: { unexpected_document: 1 },
  });
  await h.close();
});
