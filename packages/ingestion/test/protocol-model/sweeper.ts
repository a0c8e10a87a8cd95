import type { Rules } from './rules.js';
import { type Commit, type Counter, type Doomed, type State, type Step, type Sweep, topOf, type World } from './state.js';
import { attemptOf, beginAttempt, raiseFence } from './writer.js';

/** What the top commit does not name, chunks first (sweep.ts, unnamed). */
export function unnamed(rules: Rules, state: State, top: Commit): Doomed[] {
  const chunks = state.chunks.filter((one) => !(top.live.includes(one.attempt) && !top.superseded.includes(one.id)));
  const commits = state.commits.filter((one) => one.attempt !== top.attempt && !(rules.betweenStays && isBetween(one, top)));
  return [
    ...chunks.map(({ id }) => ({ kind: 'chunk', id }) as const),
    ...commits.map((one) => ({ kind: 'commit', id: one.attempt }) as const),
  ];
}

function isBetween(commit: Commit, top: Commit): boolean {
  return commit.fence > top.base && commit.fence <= top.fence && commit.attempt !== top.attempt;
}

/** The grace has passed since this commit was first seen: every search that began before it has ended. */
function graceOf({ rules }: World, state: State, top: Commit): boolean {
  const { reader } = state;
  if (!rules.grace || !reader || reader.known.includes(top.attempt)) return true;
  return !rules.searchWithinGrace && reader.judged === undefined && (reader.step === 'scan 1' || reader.step === 'scan 2');
}

export function beginSweep(world: World, state: State): Step[] {
  if (!world.rules.topBeforeCounter)
    return [{ label: 'sweep: counter', state: { ...state, sweep: { step: 'top', counter: state.counter } } }];
  const top = topOf(state.commits);
  if (top === undefined || !graceOf(world, state, top)) return [];
  return [{ label: `sweep: top ${top.attempt}`, state: { ...state, sweep: { step: 'counter', top } } }];
}

/** The one next step of the sweep; none while it waits for the grace. */
export function stepSweep(world: World, state: State, sweep: Sweep): Step[] {
  const { rules } = world;
  const end = (label: string, rest: State = state): Step[] => [
    { label: `sweep: ${label}`, state: { ...rest, sweep: undefined } },
  ];
  const to = (label: string, next: Sweep): Step[] => [{ label: `sweep: ${label}`, state: { ...state, sweep: next } }];
  switch (sweep.step) {
    case 'top': {
      const top = topOf(state.commits);
      return top === undefined || !graceOf(world, state, top) ? [] : judge(world, state, top, sweep.counter);
    }
    case 'counter':
      return judge(world, state, sweep.top, state.counter);
    case 'list': {
      const { top } = sweep;
      const extra = unnamed(rules, state, top);
      const objects = extra.filter((one) => !rules.bornBefore || fenceOf(state, one) <= top.fence);
      if (objects.length > 0) return to(`list ${objects.map(nameOf).join(' ')}`, { step: 'reread', top, objects });
      if (extra.length === 0 || !rules.orphansAbove || state.left.attempts === 0) return end('list, nothing');
      // Fences went back: one above these objects is taken, and the content is committed again under a higher one.
      const above = raiseFence(world, state, Math.max(...extra.map((one) => fenceOf(state, one))));
      return end('list, all above the fence, recommits', beginAttempt(above, true));
    }
    case 'reread': {
      const now = topOf(state.commits);
      const still = new Set(now === undefined ? [] : unnamed(rules, state, now).map(nameOf));
      const objects =
        rules.rereadBeforeDelete && now !== undefined ? sweep.objects.filter((one) => still.has(nameOf(one))) : sweep.objects;
      return objects.length === 0 ? end('top again, nothing') : to('top again', { step: 'delete', top: sweep.top, objects });
    }
    case 'delete': {
      const [first, ...objects] = sweep.objects;
      if (first === undefined) throw new Error('nothing to delete');
      const rest = remove(state, first);
      return [
        {
          label: `sweep: delete ${nameOf(first)}`,
          state: { ...rest, sweep: objects.length === 0 ? undefined : { ...sweep, objects } },
        },
      ];
    }
    case 'drop':
      return end('delete the tombstone', remove(state, { kind: 'commit', id: sweep.top.attempt }));
  }
}

/** Only a counter that still is the top commit's licenses a delete; else the same content is committed under a new fence. */
function judge(world: World, state: State, top: Commit, counter: Counter | undefined): Step[] {
  const { rules } = world;
  const needsCommit = rules.betweenStays && state.commits.some((one) => isBetween(one, top));
  if (holds(rules, state.run, counter, top) && !needsCommit)
    return [{ label: `sweep: the counter is that of ${top.attempt}`, state: { ...state, sweep: { step: 'list', top } } }];
  const idle: State = { ...state, sweep: undefined };
  if (state.left.attempts === 0 || unnamed({ ...rules, betweenStays: false }, state, top).length === 0)
    return [{ label: 'sweep: ends at the counter', state: idle }];
  return [{ label: 'sweep: has the content committed again', state: beginAttempt(idle, true) }];
}

/** A tombstone goes last and alone (audit.ts, dropTombstone), after a day: no attempt and no search is that old. */
export function beginDrop(world: World, state: State): Step[] {
  const { rules } = world;
  const top = topOf(state.commits);
  if (top === undefined || top.status !== 'deleted' || !graceOf(world, state, top)) return [];
  if (rules.tombstoneLast && state.chunks.length + state.commits.length > 1) return [];
  if (rules.tombstoneOutlivesSleepers && state.attempts.some((one) => one.fence < top.fence && one.step !== 'settle')) return [];
  return [{ label: 'audit: lists the tombstone', state: { ...state, sweep: { step: 'drop', top } } }];
}

function holds(rules: Rules, run: number, counter: Counter | undefined, top: Commit): boolean {
  if (!rules.counterHolds) return true;
  return counter?.fence === top.fence && counter.attempt === top.attempt && (!rules.runIdCompared || counter.run === run);
}

function fenceOf(state: State, one: Doomed): number {
  const found =
    one.kind === 'chunk' ? state.chunks.find(({ id }) => id === one.id) : state.commits.find(({ attempt }) => attempt === one.id);
  return found?.fence ?? 0;
}

function remove(state: State, one: Doomed): State {
  return one.kind === 'chunk'
    ? { ...state, chunks: state.chunks.filter(({ id }) => id !== one.id) }
    : { ...state, commits: state.commits.filter(({ attempt }) => attempt !== one.id) };
}

function nameOf(one: Doomed): string {
  return one.kind === 'chunk' ? `chunk ${attemptOf(one.id)}.${one.id % 8}` : `commit ${one.id}`;
}
