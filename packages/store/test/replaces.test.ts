import { attemptUuid, type ChunkStore, type CommitRecord, type StoredObject } from '@sluice/core';
import { testServices } from '@sluice/testkit';
import { CONTRACT_DIMENSIONS, createContractDocuments, unit } from '@sluice/testkit/store-contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStore } from '../src/index.js';
import type { StoreOptions } from '../src/store.js';
import { createTestStore } from './create-test-store.js';

const GRACE_MS = 6_000;
const DOCUMENTS = 8;
const CHUNKS = 4;

interface Counts {
  polls: number;
  /** Polls during which at least one commit landed. */
  overlapping: number;
  replaces: number;
  gaps: number;
  mixes: number;
  errors: number;
}

/**
 * Readers poll while writers replace every document again and again. Each chunk's text names its version; an answer is whole when it has all
 * chunks of one version of every document.
 */
async function pollThroughReplaces(
  store: ChunkStore,
  reader: ChunkStore,
  options: { deleteAfterMs: number; until: (counts: Counts) => boolean },
): Promise<Counts> {
  const docs = createContractDocuments(store);
  const counts: Counts = { polls: 0, overlapping: 0, replaces: 0, gaps: 0, mixes: 0, errors: 0 };
  const tops = new Map<string, CommitRecord>();
  const doomed: { due: number; objects: Pick<StoredObject, 'collection' | 'id'>[] }[] = [];
  let landed = 0;
  let stop = false;

  async function replace(path: string): Promise<void> {
    const base = tops.get(path);
    const version = (base?.fence ?? 0) + 1;
    const old = base === undefined ? [] : await store.listObjects(base.doc_uuid);
    const texts = Array.from({ length: CHUNKS }, (_, n) => `kettle part ${n} version ${version}`);
    const vectors = texts.map((_, n) => [1, 0.01 * n, 0.001 * (version % 7), 0, 0, 0, 0, 0]);
    const { record } = await docs.write(path, texts, {
      vectors,
      fence: version,
      base_fence: base?.fence ?? 0,
      attempt: attemptUuid(),
    });
    landed++;
    tops.set(path, record);
    if (old.length > 0) doomed.push({ due: performance.now() + options.deleteAfterMs, objects: old });
    while (doomed[0] !== undefined && doomed[0].due <= performance.now())
      await store.deleteObjects(doomed.shift()?.objects ?? []);
    if (base !== undefined) counts.replaces++;
  }

  async function write(paths: string[]): Promise<void> {
    for (let n = 0; !stop; n++) await replace(paths[n % paths.length] ?? '');
  }

  async function poll(mode: 'dense' | 'hybrid'): Promise<void> {
    const request = docs.request({ mode, limit: 100, vector: unit([1, 0, 0, 0, 0, 0, 0, 0]) });
    while (!stop) {
      const before = landed;
      const hits = await reader.search(request).catch(() => undefined);
      counts.polls++;
      if (landed > before) counts.overlapping++;
      if (hits === undefined) counts.errors++;
      else {
        const versions = new Map<string, string[]>();
        for (const { chunk } of hits)
          versions.set(chunk.doc_id, [...(versions.get(chunk.doc_id) ?? []), chunk.text.split(' ').at(-1) ?? '']);
        if (versions.size < DOCUMENTS) counts.gaps++;
        if ([...versions.values()].some((found) => found.length !== CHUNKS || new Set(found).size !== 1)) counts.mixes++;
      }
      if (options.until(counts)) stop = true;
    }
  }

  const paths = Array.from({ length: DOCUMENTS }, (_, n) => `doc${n}.md`);
  for (const path of paths) await replace(path);
  const half = DOCUMENTS / 2;
  const writers = [write(paths.slice(0, half)), write(paths.slice(half))];
  await Promise.all([poll('dense'), poll('hybrid'), ...writers]);
  return counts;
}

describe('polls that overlap replaces', () => {
  let made: ReturnType<typeof createTestStore>;
  const readers: ChunkStore[] = [];
  beforeAll(async () => {
    made = createTestStore(testServices().weaviate, { dimensions: CONTRACT_DIMENSIONS, readerGraceMs: GRACE_MS });
    await made.store.ensureSchema();
  });
  afterAll(async () => {
    for (const reader of readers) await reader.close();
    await made.store.close();
    await made.remove();
  });
  const readerWith = (options: Partial<StoreOptions>) => {
    const reader = createStore({ ...made.options, ...options });
    readers.push(reader);
    return reader;
  };

  it('see whole revisions: no gap, no mix, no error', async () => {
    const counts = await pollThroughReplaces(made.store, readerWith({}), {
      deleteAfterMs: GRACE_MS,
      until: ({ replaces, overlapping }) => replaces >= 200 && overlapping >= 200,
    });
    expect(counts).toMatchObject({ gaps: 0, mixes: 0, errors: 0 });
  }, 180_000);

  const faulty: [string, Partial<StoreOptions>, number][] = [
    ['the visibility check', { readerRules: { checkVisibility: false } }, GRACE_MS],
    ['the pinned retry', { readerRules: { pinAndRetry: false } }, GRACE_MS],
    ['the grace', { readerGraceMs: 0, clockSkewMs: 0 }, 0],
  ];
  for (const [rule, options, deleteAfterMs] of faulty) {
    it(`see gaps or mixes without ${rule}`, async () => {
      const counts = await pollThroughReplaces(made.store, readerWith(options), {
        deleteAfterMs,
        until: ({ gaps, mixes, errors, polls }) => gaps + mixes + errors > 0 || polls >= 20_000,
      });
      expect(counts.gaps + counts.mixes + counts.errors).toBeGreaterThan(0);
    }, 180_000);
  }
});
