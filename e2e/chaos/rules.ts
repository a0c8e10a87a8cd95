import { setTimeout as sleep } from 'node:timers/promises';
import { attemptUuid, type ChunkStore, type Fences, type Filter } from '@sluice/core';
import { createStore } from '@sluice/store';
import { createWordEmbedder, dropCollections } from '@sluice/testkit';
import { createHarness, type Harness } from '../../packages/ingestion/test/harness.js';
import { withBefore } from '../../packages/ingestion/test/with-before.js';
import { judge, versioned } from '../support/readers.js';

/** Rules of the commit protocol that can be left out, one at a time. */
export const RULES = ['fence', 'grace', 'pinned-retry', 'visibility', 'delete-rule'] as const;
export type Rule = (typeof RULES)[number];

export interface RuleOutcome {
  scenario: string;
  polls: number;
  /** What readers saw that they never may. */
  violations: string[];
}

const DIMENSIONS = 64;
const GRACE_MS = 4_000;
const NAMES = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'];
const EVERYTHING: Filter = { op: 'and', of: [] };

/**
 * The real writer, sweep and store (the only fakes are an embedder of words and fences in memory) in the scenario that needs the rule.
 *
 * @param url of a real Weaviate
 * @param leaveOut whether the rule is left out
 */
export async function tryRule(url: string, rule: Rule, leaveOut: boolean): Promise<RuleOutcome> {
  const namespace = `rules${process.pid}x${Date.now().toString(36)}`;
  const options = { url, namespace, collection: 'test', dimensions: DIMENSIONS };
  const graceMs = rule === 'grace' && leaveOut ? 0 : GRACE_MS;
  const writing = createStore({ ...options, readerGraceMs: graceMs });
  const reading = createStore({
    ...options,
    readerGraceMs: graceMs,
    ...(graceMs === 0 ? { clockSkewMs: 0 } : {}),
    readerRules: {
      ...(rule === 'pinned-retry' && leaveOut ? { pinAndRetry: false } : {}),
      ...(rule === 'visibility' && leaveOut ? { checkVisibility: false } : {}),
    },
  });
  try {
    if (rule === 'fence') return await wakeLateWriter(writing, reading, leaveOut);
    if (rule === 'delete-rule') return await sweepUnderSleeper(writing, reading, leaveOut);
    return await pollThroughReplaces(writing, reading, graceMs, leaveOut ? Number.POSITIVE_INFINITY : 100);
  } finally {
    await reading.close();
    await writing.close();
    await dropCollections(url, namespace);
  }
}

/** The texts that a reader finds of one document, or of all. */
async function search(reading: ChunkStore, mode: 'hybrid' | 'dense' = 'dense'): Promise<{ docId: string; text: string }[]> {
  const query = 'mark part version constant';
  const [vector] = await createWordEmbedder(DIMENSIONS).embed([query]);
  if (vector === undefined) throw new Error('no vector');
  const hits = await reading.search({ mode, query, vector, alpha: 0.6, limit: 100, filter: EVERYTHING, mayAccess: () => true });
  return hits.map(({ chunk }) => ({ docId: chunk.doc_id, text: chunk.text }));
}

/** The marked paragraphs alone: the harness' reader makes a chunk of each heading, too. */
function seenOf(found: readonly { docId: string; text: string }[], name: string): number | 'gap' | 'mix' {
  return judge(found.filter((hit) => hit.docId === `inbox/${name}.md`).map((hit) => hit.text));
}

/**
 * Replaces of six documents at once, four in a row and then a sweep as soon as the grace of the last is over, while two readers judge all that
 * they find. (A sweep takes all that the top does not name, so no replace may come between.)
 */
async function pollThroughReplaces(
  writing: ChunkStore,
  reading: ChunkStore,
  graceMs: number,
  enough: number,
): Promise<RuleOutcome> {
  const h = await createHarness({
    store: writing,
    embedder: createWordEmbedder(DIMENSIONS),
    settings: { readerGraceMs: graceMs },
  });
  const outcome: RuleOutcome = { scenario: 'readers poll through replaces', polls: 0, violations: [] };
  let overlapping = 0;
  const deadline = performance.now() + 120_000;
  let replaces = 0;
  let stopped = false;
  const text = (name: string, version: number) => versioned(name, version).replaceAll(/## Part \d+\n\n/g, '');

  async function write(name: string, version: number): Promise<void> {
    await h.write(`${name}.md`, text(name, version));
    await h.reconcile(`${name}.md`);
    replaces += 1;
    if (version % 4 !== 3) return;
    await sleep(graceMs);
    await h.sweep(`${name}.md`);
  }

  async function writeOn(name: string): Promise<void> {
    for (let version = 1; !stopped; version += 1) await write(name, version);
  }

  async function poll(mode: 'hybrid' | 'dense'): Promise<void> {
    while (!stopped) {
      const before = replaces;
      const found = await search(reading, mode).catch((cause: unknown) => {
        outcome.violations.push(`error: ${String(cause)}`);
        return undefined;
      });
      outcome.polls += 1;
      if (replaces > before) overlapping += 1;
      if (found !== undefined)
        for (const name of NAMES) {
          const seen = seenOf(found, name);
          if (typeof seen !== 'number') outcome.violations.push(`${seen} of ${name}`);
        }
      stopped ||= outcome.violations.length > 0 || overlapping >= enough || performance.now() > deadline;
    }
  }

  try {
    for (const name of NAMES) await write(name, 0);
    await Promise.all([...NAMES.map(writeOn), poll('dense'), poll('hybrid')]);
    return outcome;
  } finally {
    stopped = true;
    await h.close();
  }
}

/** Holds an attempt at a point until it is let go; each is used once. */
function createHolds() {
  const holds = new Map<string, { reached: () => void; release: Promise<void> }>();
  return {
    async reach(point: string): Promise<void> {
      const hold = holds.get(point);
      if (hold === undefined) return;
      holds.delete(point);
      hold.reached();
      await hold.release;
    },
    /** Yields what tells that the point was reached, and what lets go. */
    at(point: string): { reached: Promise<void>; release(): void } {
      let reached = () => {};
      let release = () => {};
      const isReached = new Promise<void>((resolve) => {
        reached = resolve;
      });
      holds.set(point, {
        reached,
        release: new Promise((resolve) => {
          release = resolve;
        }),
      });
      return { reached: isReached, release };
    },
  };
}

async function createHeldHarness(writing: ChunkStore, changeFences: (fences: Fences) => Fences) {
  const holds = createHolds();
  const h = await createHarness({
    store: withBefore(writing, (call) => holds.reach(`store ${call}`)),
    embedder: createWordEmbedder(DIMENSIONS),
    onStep: (step) => holds.reach(step),
  });
  h.deps.fences = changeFences(h.deps.fences);
  return { h, holds };
}

const text = (version: number) => versioned('v0', version).replaceAll(/## Part \d+\n\n/g, '');

async function judgeOnce(h: Harness, reading: ChunkStore, scenario: string, wanted: number): Promise<RuleOutcome> {
  const outcome: RuleOutcome = { scenario, polls: 0, violations: [] };
  for (const mode of ['dense', 'hybrid'] as const) {
    const seen = seenOf(await search(reading, mode), 'v0');
    outcome.polls += 1;
    if (seen === 'gap' || seen === 'mix') outcome.violations.push(`${seen}: only part of what the newest commit names is there`);
    else if (seen < wanted) outcome.violations.push(`stale: version ${seen} after version ${wanted} was committed`);
  }
  await h.close();
  return outcome;
}

/**
 * A writer stops just before its commit lands; another commits a newer text; the first wakes, commits, and dies. Without a fence that
 * grows with every attempt both commits stand equal, and the older may win.
 */
async function wakeLateWriter(writing: ChunkStore, reading: ChunkStore, leaveOut: boolean): Promise<RuleOutcome> {
  let taken = 0;
  // A number made from what is committed, as one would do without a counter; of equal ones the first writer's attempt sorts higher.
  const fromStore: Fences['take'] = async (_docUuid, floor = 0) => {
    taken += 1;
    return { value: floor + 1, attempt: `${(0xffffffff - taken).toString(16)}${attemptUuid().slice(8)}` };
  };
  const { h, holds } = await createHeldHarness(writing, (fences) => (leaveOut ? { ...fences, take: fromStore } : fences));
  await h.write('v0.md', text(0));
  await h.reconcile('v0.md');
  await h.write('v0.md', text(1));
  const sleeper = holds.at('store insertRecord');
  const sleeping = h.reconcile('v0.md');
  await sleeper.reached;
  await h.write('v0.md', text(2));
  await h.reconcile('v0.md');
  const death = holds.at('committed');
  sleeper.release();
  await Promise.race([death.reached, sleeping]);
  return judgeOnce(h, reading, 'a stopped writer wakes, commits an older text and dies', 2);
}

/**
 * A writer has taken a later fence, kept chunks of the base, and sleeps before its commit; the sweep of the present commit comes by. Without
 * the rule (nothing is deleted once a later fence was taken) it deletes what the sleeper is about to name.
 */
async function sweepUnderSleeper(writing: ChunkStore, reading: ChunkStore, leaveOut: boolean): Promise<RuleOutcome> {
  const { h, holds } = await createHeldHarness(writing, (fences) => (leaveOut ? { ...fences, holds: async () => true } : fences));
  await h.write('v0.md', text(0));
  await h.reconcile('v0.md');
  const editor = holds.at('fence');
  const editing = h.reconcile('v0.md', 'retry', { recommit: true });
  await editor.reached;
  const sleeper = holds.at('store insertRecord');
  const sleeping = h.reconcile('v0.md', 'retry', { recommit: true });
  await sleeper.reached;
  await h.write('v0.md', text(1));
  editor.release();
  await editing;
  await h.sweep('v0.md');
  const death = holds.at('committed');
  sleeper.release();
  await Promise.race([death.reached, sleeping]);
  return judgeOnce(h, reading, 'the sweep comes by while a writer with a later fence sleeps before its commit', 0);
}
