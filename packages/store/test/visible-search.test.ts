import type { Clock, SearchHit } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { createSeenCommits } from '../src/seen-commits.js';
import { createVisibleSearch } from '../src/visible-search.js';
import type { VisibleSearchDeps } from '../src/visible-search-deps.js';
import { createSimulatedStore, DENSE } from './simulated-store.js';

const GRACE_MS = 10_000;
const NOW = 1_000_000_000;

function clockAt(state: { ms: number }): Clock {
  return { now: () => NOW + state.ms, monotonic: () => state.ms, sleep: () => Promise.resolve() };
}

const idsOf = (hits: readonly SearchHit[]) =>
  hits
    .map((hit) => hit.chunk.id)
    .sort()
    .join(' ');

type Rules = NonNullable<VisibleSearchDeps['rules']>;

/**
 * One document of two chunks is replaced twice while a search runs. Tries every way in which the writer's steps can fall between the steps of
 * the search and returns the answers seen, with how often each was.
 */
async function allInterleavings(rules: Rules, deleteAtOnce = false): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const schedules: number[][] = [[]];
  // A schedule says before which steps of the search how many of the writer's steps have been done. New ones grow out of the last.
  for (let run = 0; schedules.length > 0; run++) {
    const schedule = schedules.pop() ?? [];
    const { answer, pauses, steps } = await runSchedule(schedule, rules, deleteAtOnce);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (run > 60_000) throw new Error('too many interleavings');
    // Next writer step at any later pause: each schedule is made once, since places never decrease.
    if (schedule.length < steps) {
      for (let place = schedule.at(-1) ?? 0; place < pauses; place++) schedules.push([...schedule, place]);
    }
  }
  return answers;
}

async function runSchedule(schedule: readonly number[], rules: Rules, deleteAtOnce: boolean) {
  let pauses = 0;
  let done = 0;
  const store = createSimulatedStore(() => {
    while (done < schedule.length && (schedule[done] ?? 0) <= pauses) {
      writer[done]?.();
      done++;
    }
    pauses++;
  });
  // New objects are looked at before, between and after the old ones; all before them is what hides a replace whose old objects go at once.
  store.reserve(...(deleteAtOnce ? ['a2', 'b2', 'a1', 'b1'] : ['a2', 'a1', 'b1', 'b2', 'a3']));
  store.put({ id: 'a1', document: 'd', rev: 'r1', score: 0.9 });
  store.put({ id: 'b1', document: 'd', rev: 'r1', score: 0.8 });
  store.commit({ document: 'd', fence: 1, attempt: 'r1', live: ['r1'] });
  const writer = [
    () => store.put({ id: 'a2', document: 'd', rev: 'r2', score: 0.9 }),
    () => store.put({ id: 'b2', document: 'd', rev: 'r2', score: 0.8 }),
    () => store.commit({ document: 'd', fence: 2, base: 1, attempt: 'r2', live: ['r2'], createdMs: NOW }),
    ...(deleteAtOnce
      ? [() => store.remove('a1'), () => store.remove('b1')]
      : [
          () => store.put({ id: 'a3', document: 'd', rev: 'r3', score: 0.9 }),
          // An edit of the first chunk alone: the second is kept, the old first is superseded.
          () =>
            store.commit({
              document: 'd',
              fence: 3,
              base: 2,
              attempt: 'r3',
              live: ['r2', 'r3'],
              superseded: ['a2'],
              createdMs: NOW,
            }),
        ]),
  ];
  const search = createVisibleSearch({
    ...store.ports,
    clock: clockAt({ ms: 5 }),
    graceMs: GRACE_MS,
    skewMs: 0,
    rules,
  });
  const answer = await search(DENSE).then(idsOf, (error: Error) => `error ${error.message}`);
  return { answer, pauses, steps: writer.length };
}

const WHOLE = ['a1 b1', 'a2 b2', 'a3 b2'];

describe('the reader of the commit protocol', () => {
  it('sees a whole revision, whatever a writer does between its steps', async () => {
    const answers = await allInterleavings({});
    for (const answer of answers.keys()) expect(WHOLE).toContain(answer);
    // Each revision was seen, so the interleavings did overlap the replaces.
    expect([...answers.keys()].sort()).toEqual(WHOLE);
  });

  const needed: [string, Rules][] = [
    ['the visibility check', { checkVisibility: false }],
    ['the pinned retry', { pinAndRetry: false }],
    ['doubt of commits that may be younger than the search', { checkAge: false }],
  ];
  for (const [rule, rules] of needed) {
    it(`sees halves or nothing without ${rule}`, async () => {
      const answers = await allInterleavings(rules);
      expect([...answers.keys()].filter((answer) => !WHOLE.includes(answer))).not.toEqual([]);
    });
  }

  it('sees gaps when superseded chunks are deleted without a grace', async () => {
    const answers = await allInterleavings({}, true);
    expect([...answers.keys()].filter((answer) => !WHOLE.includes(answer))).not.toEqual([]);
  });
});

function makeSearch(options: Partial<VisibleSearchDeps> = {}, time = { ms: 0 }) {
  const store = createSimulatedStore(() => {});
  const search = createVisibleSearch({ ...store.ports, clock: clockAt(time), graceMs: GRACE_MS, skewMs: 1_000, ...options });
  return { store, search, time };
}

describe('what a search costs', () => {
  it('is one search when the commits are old, and a second one when a commit is young and new to this process', async () => {
    const { store, search } = makeSearch({}, { ms: 100 });
    store.put({ id: 'a', document: 'old', rev: 'r1', score: 0.9 });
    store.commit({ document: 'old', fence: 1, attempt: 'r1', live: ['r1'], createdMs: NOW - GRACE_MS - 2_000 });
    expect(idsOf(await search(DENSE))).toBe('a');
    expect(store.searches).toBe(1);
    store.put({ id: 'b', document: 'young', rev: 'r2', score: 0.8 });
    store.commit({ document: 'young', fence: 1, attempt: 'r2', live: ['r2'], createdMs: NOW - GRACE_MS });
    expect(idsOf(await search(DENSE))).toBe('a b');
    expect(store.searches).toBe(3);
    expect(idsOf(await search(DENSE))).toBe('a b');
    expect(store.searches).toBe(4);
  });

  it('reads the commits of what it shows alone while nothing is dead, and of all it finds once something is', async () => {
    const asked: number[] = [];
    const { store } = makeSearch();
    const search = createVisibleSearch({
      ...store.ports,
      headsOf: (documents) => {
        asked.push(documents.length);
        return store.ports.headsOf(documents);
      },
      clock: clockAt({ ms: 0 }),
      graceMs: GRACE_MS,
      skewMs: 1_000,
    });
    for (let n = 0; n < 90; n++) store.put({ id: `live${n}`, document: `d${n}`, rev: `r${n}`, score: 0.5 - n / 1_000 });
    for (let n = 0; n < 90; n++) store.commit({ document: `d${n}`, fence: 1, attempt: `r${n}`, live: [`r${n}`] });
    const first = await search(DENSE);
    // Ten are shown, and one more document stands at the other end of the pool.
    expect(asked).toEqual([11]);
    store.put({ id: 'dead', document: 'd50', rev: 'gone', score: 0.9 });
    expect((await search(DENSE)).map((hit) => hit.chunk.id)).toEqual(first.map((hit) => hit.chunk.id));
    expect(asked.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(11 + 90);
  });

  it('is one search again once as many spare hits are asked for as are dead', async () => {
    const { store, search } = makeSearch();
    for (let n = 0; n < 250; n++) store.put({ id: `live${n}`, document: `d${n}`, rev: `r${n}`, score: 0.5 - n / 1_000 });
    for (let n = 0; n < 250; n++) store.commit({ document: `d${n}`, fence: 1, attempt: `r${n}`, live: [`r${n}`] });
    for (let n = 0; n < 90; n++) store.put({ id: `dead${n}`, document: `d${n}`, rev: 'gone', score: 0.9 });
    const first = await search({ ...DENSE, limit: 100 });
    expect(store.searches).toBe(2);
    const second = await search({ ...DENSE, limit: 100 });
    expect(store.searches).toBe(3);
    for (const hits of [first, second]) {
      expect(hits.map((hit) => hit.chunk.id)).toEqual(Array.from({ length: 100 }, (_, n) => `live${n}`));
    }
  });

  it('loses no result to dead chunks of which some are deleted while a search loads them', async () => {
    const [LIVE, DEAD] = [200, 160];
    let pauses = 0;
    const store = createSimulatedStore(() => {
      // Everything has been looked at once the pauses are as many as the chunks: the best are named by then and about to be loaded.
      if (++pauses === LIVE + DEAD + 1) for (let n = 0; n < 10; n++) store.remove(`dead${n}`);
    });
    for (let n = 0; n < LIVE; n++) store.put({ id: `live${n}`, document: `d${n}`, rev: `r${n}`, score: 0.5 - n / 1_000 });
    for (let n = 0; n < LIVE; n++) store.commit({ document: `d${n}`, fence: 1, attempt: `r${n}`, live: [`r${n}`] });
    for (let n = 0; n < DEAD; n++) store.put({ id: `dead${n}`, document: `d${n}`, rev: 'gone', score: 0.9 });
    const search = createVisibleSearch({ ...store.ports, clock: clockAt({ ms: 0 }), graceMs: GRACE_MS, skewMs: 1_000 });
    const hits = await search({ ...DENSE, limit: 100 });
    expect(hits.map((hit) => hit.chunk.id)).toEqual(Array.from({ length: 100 }, (_, n) => `live${n}`));
  });

  it('loses no result to thousands of dead chunks of other documents', async () => {
    const { store, search } = makeSearch();
    for (let n = 0; n < 6_000; n++) store.put({ id: `dead${n}`, document: `x${n}`, rev: 'gone', score: 0.9 - n / 100_000 });
    for (let n = 0; n < 20; n++) {
      store.put({ id: `live${n}`, document: `d${n}`, rev: `r${n}`, score: 0.5 - n / 100 });
      store.commit({ document: `d${n}`, fence: 1, attempt: `r${n}`, live: [`r${n}`] });
    }
    const hits = await search({ ...DENSE, limit: 10 });
    expect(hits.map((hit) => hit.chunk.id)).toEqual(Array.from({ length: 10 }, (_, n) => `live${n}`));
  });
});

describe('time', () => {
  it('begins again when half the grace has passed between the first commit and the last chunk', async () => {
    const time = { ms: 0 };
    let slow = true;
    const { store, search } = makeSearch({}, time);
    store.put({ id: 'a', document: 'd', rev: 'r', score: 1 });
    store.commit({ document: 'd', fence: 1, attempt: 'r', live: ['r'] });
    const headsOf = store.ports.headsOf;
    const slowly = createVisibleSearch({
      ...store.ports,
      headsOf: async (documents) => {
        const heads = await headsOf(documents);
        if (slow) time.ms += GRACE_MS / 2 + 1;
        slow = false;
        return heads;
      },
      clock: clockAt(time),
      graceMs: GRACE_MS,
      skewMs: 0,
    });
    expect(idsOf(await slowly(DENSE))).toBe('a');
    expect(store.searches).toBe(2);
    expect(idsOf(await search(DENSE))).toBe('a');
  });

  it('is store_unavailable when it never gets done in time', async () => {
    const time = { ms: 0 };
    const { store } = makeSearch();
    store.put({ id: 'a', document: 'd', rev: 'r', score: 1 });
    store.commit({ document: 'd', fence: 1, attempt: 'r', live: ['r'] });
    const search = createVisibleSearch({
      ...store.ports,
      readChunks: async (ids) => {
        time.ms += GRACE_MS;
        return store.ports.readChunks(ids);
      },
      clock: clockAt(time),
      graceMs: GRACE_MS,
      skewMs: 0,
    });
    await expect(search(DENSE)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('begins again when a chunk goes away while it is read', async () => {
    const { store } = makeSearch();
    store.put({ id: 'a', document: 'd', rev: 'r', score: 1 });
    store.put({ id: 'b', document: 'd', rev: 'r2', score: 1 });
    store.commit({ document: 'd', fence: 1, attempt: 'r', live: ['r'] });
    let first = true;
    const search = createVisibleSearch({
      ...store.ports,
      readChunks: async (ids) => {
        if (first) {
          store.remove('a');
          store.commit({ document: 'd', fence: 2, attempt: 'r2', live: ['r2'] });
        }
        first = false;
        return store.ports.readChunks(ids);
      },
      clock: clockAt({ ms: 0 }),
      graceMs: GRACE_MS,
      skewMs: 0,
    });
    expect(idsOf(await search(DENSE))).toBe('b');
  });
});

describe('seen commits', () => {
  it('counts the first sight of an attempt, and forgets the longest unused beyond its capacity', () => {
    const seen = createSeenCommits(2);
    const one = { doc_uuid: 'd1', attempt: 'r1' };
    seen.note(one, 10);
    seen.note(one, 20);
    expect(seen.seenBy(one, 9)).toBe(false);
    expect(seen.seenBy(one, 10)).toBe(true);
    seen.note({ doc_uuid: 'd1', attempt: 'r2' }, 30);
    expect(seen.seenBy(one, 40)).toBe(false);
    seen.note({ doc_uuid: 'd2', attempt: 'x' }, 30);
    seen.note({ doc_uuid: 'd1', attempt: 'r2' }, 35);
    seen.note({ doc_uuid: 'd3', attempt: 'y' }, 40);
    expect(seen.size).toBe(2);
    expect(seen.seenBy({ doc_uuid: 'd1', attempt: 'r2' }, 50)).toBe(true);
    expect(seen.seenBy({ doc_uuid: 'd2', attempt: 'x' }, 50)).toBe(false);
  });
});
