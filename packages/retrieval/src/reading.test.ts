import { type Clock, SluiceError } from '@sluice/core';
import { createMemoryStore, createWordEmbedder, storeDocument } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { createReading } from './reading.js';

/** Time that passes only when a test says so. */
function createManualClock() {
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  return { clock, pass: (ms: number) => (now += ms) };
}

async function createStored() {
  const store = createMemoryStore();
  const record = await storeDocument(store, createWordEmbedder(), { docId: 'inbox/a.md', text: 'one\n\ntwo\n\nthree' });
  return { store, record };
}

describe('whole reads', () => {
  it('begin again when an object was gone, and give what the next round finds', async () => {
    const { store } = await createStored();
    const reading = createReading({ store, clock: createManualClock().clock, readerGraceMs: 1000 });
    let rounds = 0;
    const result = await reading.whole(async () => {
      rounds += 1;
      if (rounds < 3) throw new SluiceError('store_rejected', 'gone');
      return 'found';
    });
    expect([result, rounds]).toEqual(['found', 3]);
  });

  it('begin again when they took more than half the grace', async () => {
    const { store } = await createStored();
    const { clock, pass } = createManualClock();
    const reading = createReading({ store, clock, readerGraceMs: 1000 });
    const slowness = [501, 700, 500];
    let rounds = 0;
    await reading.whole(async () => {
      pass(slowness[rounds] ?? 0);
      rounds += 1;
    });
    expect(rounds).toBe(3);
  });

  it('give up as unavailable when they are overtaken again and again, and pass other errors on at once', async () => {
    const { store } = await createStored();
    const reading = createReading({ store, clock: createManualClock().clock, readerGraceMs: 1000 });
    const gone = reading.whole(() => Promise.reject(new SluiceError('store_rejected', 'gone')));
    await expect(gone).rejects.toMatchObject({ code: 'store_unavailable' });
    let rounds = 0;
    const failed = reading.whole(() => {
      rounds += 1;
      return Promise.reject(new SluiceError('store_unavailable', 'away'));
    });
    await expect(failed).rejects.toMatchObject({ code: 'store_unavailable', message: 'away' });
    expect(rounds).toBe(1);
  });
});

describe('chunks and texts', () => {
  it('of a revision that is being swept are an error, never less', async () => {
    const { store, record } = await createStored();
    const reading = createReading({ store, clock: createManualClock().clock, readerGraceMs: 1000 });
    expect(await reading.text(record, 0, 100)).toBe('one\n\ntwo\n\nthree');
    const { entries } = await reading.manifest(record);
    await store.deleteObjects([{ collection: 'chunks', id: entries[1]?.id ?? '' }]);
    await expect(reading.text(record, 0, 100)).rejects.toMatchObject({ code: 'store_rejected' });
    expect(await reading.text(record, 0, 3)).toBe('one');
    await expect(reading.chunks(entries.map(({ id }) => id))).rejects.toMatchObject({ code: 'store_rejected' });
  });

  it('a manifest is read once', async () => {
    const { store, record } = await createStored();
    let reads = 0;
    const counting = {
      ...store,
      readManifest: (of: typeof record) => {
        reads++;
        return store.readManifest(of);
      },
    };
    const reading = createReading({ store: counting, clock: createManualClock().clock, readerGraceMs: 1000 });
    await reading.manifest(record);
    await reading.text(record, 0, 5);
    expect(reads).toBe(1);
  });
});
