import {
  type Chunk,
  type Judged,
  levelOf,
  type Reader,
  SPLITS,
  type Split,
  type State,
  type Step,
  sortLetters,
  topOf,
  versionAt,
  type World,
} from './state.js';
import { attemptOf } from './writer.js';

export function beginRead(world: World, state: State, split: Split): Step {
  const { clearance = 1 } = world.scenario.reader ?? {};
  const isRaised = state.told >= 0 && levelOf(versionAt(world, state.told)) > clearance;
  const reader: Reader = {
    step: 'scan 1',
    split,
    hits: [],
    known: state.commits.map((one) => one.attempt),
    allowed: [snapshot(world, state)],
    hiddenUpTo: isRaised ? state.told : -1,
  };
  return { label: `reader: begins (${split})`, state: { ...state, reader } };
}

/** What a reader of one instant would get, as sorted letters. */
function snapshot(world: World, state: State): string {
  const top = topOf(state.commits);
  return top === undefined || !maySee(world, state) ? '' : top.promises;
}

/** Keeps, beside a search under way, what a snapshot would have given meanwhile. */
export function witness(world: World, state: State): State {
  const { reader } = state;
  if (!reader) return state;
  const now = snapshot(world, state);
  return reader.allowed.includes(now) ? state : { ...state, reader: { ...reader, allowed: [...reader.allowed, now].sort() } };
}

/** visible-search.ts, maySee */
function maySee({ rules, scenario }: World, state: State): boolean {
  const { clearance = 1 } = scenario.reader ?? {};
  const top = topOf(state.commits);
  if (top === undefined) return false;
  return (
    top.level <= clearance &&
    (!rules.betweenClearance || state.commits.every((one) => one.fence <= top.base || one.level <= clearance))
  );
}

/** What a search can do next (visible-search.ts, searchOnce). */
export function stepReader(world: World, state: State, reader: Reader): Step[] {
  const { clearance = 1, pool } = world.scenario.reader ?? {};
  const isFirst = SPLITS[reader.split];
  const to = (next: Reader, label: string = reader.step): Step => ({
    label: `reader: ${label}`,
    state: { ...state, reader: next },
  });
  const seen = (half: (chunk: Chunk) => boolean) => state.chunks.filter((one) => half(one) && one.level <= clearance);
  const { judged } = reader;
  switch (reader.step) {
    case 'scan 1': {
      const hits = seen(isFirst).map((one) => one.id);
      const next: Reader = { ...reader, step: 'scan 2', hits };
      // Two searches run side by side; the commits of what one has found are read while the other still searches.
      return hits.length === 0 ? [to(next)] : [to(next), to({ ...next, step: 'early commits' })];
    }
    case 'early commits':
      return [to({ ...reader, step: 'scan 2', judged: judge(world, state, reader) })];
    case 'scan 2': {
      const all = [...reader.hits, ...seen((one) => !isFirst(one)).map((one) => one.id)].sort((a, b) => a - b);
      // The oldest rank first: the worst case, dead chunks crowd out the live ones.
      const hits = pool === undefined ? all : all.slice(0, pool);
      if (hits.length === 0) return [answer(world, state, reader, [], undefined)];
      return [judged === undefined ? to({ ...reader, step: 'commits', hits }) : conclude(world, state, reader, hits, judged)];
    }
    case 'commits':
      return [conclude(world, state, reader, reader.hits, judge(world, state, reader))];
    case 'pinned scan 1':
    case 'pinned scan 2': {
      const half = reader.step === 'pinned scan 1' ? isFirst : (one: Chunk) => !isFirst(one);
      const found = seen(half).flatMap((one) => (judged !== undefined && isLive(one.id, judged) ? [one.id] : []));
      const hits = [...reader.hits, ...found].sort((a, b) => a - b);
      return [
        reader.step === 'pinned scan 1'
          ? to({ ...reader, step: 'pinned scan 2', hits })
          : answer(world, state, reader, hits, judged),
      ];
    }
  }
}

/** Reads the commits: what they let it show, and whether it knows that they are older than its search. */
function judge(world: World, state: State, { known }: Reader): Judged {
  const top = topOf(state.commits);
  return {
    live: top !== undefined && maySee(world, state) ? top.live : [],
    superseded: top?.superseded ?? [],
    believed: top !== undefined && (!world.rules.ageRule || known.includes(top.attempt)),
    saw: top?.saw ?? -1,
  };
}

/** Answers, or searches again over what the commits name: when they may have landed meanwhile, or dead hits left too few. */
function conclude(world: World, state: State, reader: Reader, hits: readonly number[], judged: Judged): Step {
  const { pool } = world.scenario.reader ?? {};
  const alive = hits.filter((id) => isLive(id, judged)).length;
  const isShort = pool !== undefined && hits.length >= pool && alive < pool;
  if (!world.rules.pinnedRetry || (judged.believed && !isShort)) return answer(world, state, reader, hits, judged);
  return {
    label: `reader: ${reader.step}, searches again`,
    state: { ...state, reader: { ...reader, step: 'pinned scan 1', hits: [], judged } },
  };
}

function isLive(id: number, { live, superseded }: Judged): boolean {
  return live.includes(attemptOf(id)) && !superseded.includes(id);
}

function answer(world: World, state: State, reader: Reader, hits: readonly number[], judged: Judged | undefined): Step {
  const shown = hits.filter((id) => !world.rules.visibilityCheck || (judged !== undefined && isLive(id, judged)));
  const texts = sortLetters(shown.map((id) => state.chunks.find((one) => one.id === id)?.text ?? '?').join(''));
  const label = `reader: ${reader.step}, answers ${texts === '' ? 'nothing' : texts}`;
  const done: State = { ...state, reader: false };
  if (!reader.allowed.includes(texts))
    return {
      label,
      state: {
        ...done,
        broken: `the answer is no revision that was on top since the search began (${reader.allowed.map((one) => one || 'nothing').join(', ')})`,
      },
    };
  if (texts !== '' && (judged?.saw ?? -1) <= reader.hiddenUpTo)
    return { label, state: { ...done, broken: 'text is shown whose level a commit had raised before the search began' } };
  return { label, state: done };
}
