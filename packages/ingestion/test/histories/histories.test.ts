import type { ChunkStore } from '@sluice/core';
import { createStore } from '@sluice/store';
import { createMemoryStore, dropCollections, testServices } from '@sluice/testkit';
import fc from 'fast-check';
import { describe, it } from 'vitest';

import { type Command, command, histories } from './commands.js';
import { World } from './world.js';

/**
 * Random histories against the real writer, sweep and audit: operations on files; events that come twice, late, in another order or never;
 * attempts that die at any step or store call, or sleep there and wake up later; a Redis that is flushed or restarted; a root that is lost.
 * After each step what is served is a whole version that once was on the disk. After a last scan the store is the disk.
 */

async function runHistory(store: ChunkStore, history: readonly Command[], wakeAfterScan: boolean): Promise<void> {
  const world = await World.create(store);
  try {
    for (const step of history) {
      await world.run(step);
      await world.checkServed();
    }
    await world.settle(wakeAfterScan);
    await world.checkDisk();
  } finally {
    await world.h.close();
  }
}

/** Histories that showed a fault once, or that a rule is needed for; each is run before the random ones. */
const KNOWN: [Command[], boolean][] = [
  // A sweep between the commit of an early fence and that of a later one which keeps what the former superseded.
  [
    [
      { op: 'write', path: 'a.md', paragraphs: [0, 1], level: 0, events: 'now' },
      {
        op: 'race',
        path: 'a.md',
        before: null,
        first: { at: 'fence', recommit: true },
        second: { at: 'insertRecord', recommit: true },
        after: [4],
        order: ['first', 'sweep', 'second'],
      },
    ],
    true,
  ],
  // A writer of a document that was deleted and swept meanwhile wakes, commits and dies.
  [
    [
      { op: 'write', path: 'a.md', paragraphs: [0], level: 0, events: 'now' },
      { op: 'fault', at: 'insertRecord', skip: 0, wakes: true },
      { op: 'write', path: 'a.md', paragraphs: [1], level: 0, events: 'now' },
      { op: 'remove', path: 'a.md', events: 'now' },
      { op: 'sweep', path: 'a.md', graceOver: false },
      { op: 'sweep', path: 'a.md', graceOver: true },
      { op: 'fault', at: 'committed', skip: 0, wakes: false },
      { op: 'wake', pick: 0 },
    ],
    true,
  ],
  // A base that is replaced and swept while a writer that is to raise its level sleeps.
  [
    [
      { op: 'write', path: 'a.md', paragraphs: [0], level: 0, events: 'now' },
      { op: 'fault', at: 'base', skip: 0, wakes: true },
      { op: 'sidecar', path: 'a.md', level: 2, events: 'now' },
      { op: 'write', path: 'a.md', paragraphs: [], level: 0, events: 'now' },
      { op: 'sweep', path: 'a.md', graceOver: false },
      { op: 'sweep', path: 'a.md', graceOver: true },
    ],
    true,
  ],
];

describe('random histories', () => {
  it('end in the state of the disk, and serve whole versions all the while', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.boolean(), (history, wakeAfterScan) =>
        runHistory(createMemoryStore(), history, wakeAfterScan),
      ),
      { numRuns: Number(process.env.SLUICE_TEST_HISTORIES ?? 150), examples: KNOWN },
    );
  }, 600_000);

  it('do so on the real store', async () => {
    const { weaviate: url } = testServices();
    let serial = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 5, maxLength: 30, size: 'max' }),
        fc.boolean(),
        async (history, wakeAfterScan) => {
          serial += 1;
          const namespace = `histories${process.pid}x${Date.now().toString(36)}n${serial}`;
          const store = createStore({ url, namespace, collection: 'test', dimensions: 64 });
          try {
            await runHistory(store, history, wakeAfterScan);
          } finally {
            await store.close();
            await dropCollections(url, namespace);
          }
        },
      ),
      { numRuns: 8 },
    );
  }, 600_000);
});
