import {
  type Chunk,
  levelOf,
  type Pinned,
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
export function snapshot(world: World, state: State): string {
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

/** The one next step of a search (visible-search.ts, searchOnce). */
export function stepReader(world: World, state: State, reader: Reader): Step {
  const { rules, scenario } = world;
  const { clearance = 1, pool } = scenario.reader ?? {};
  const isFirst = SPLITS[reader.split];
  const to = (next: Reader): Step => ({ label: `reader: ${reader.step}`, state: { ...state, reader: next } });
  const seen = (half: (chunk: Chunk) => boolean) =>
    state.chunks.filter(
      (one) => half(one) && one.level <= clearance && (reader.pinned === undefined || isLive(one.id, reader.pinned)),
    );
  switch (reader.step) {
    case 'scan 1':
    case 'pinned scan 1':
      return to({
        ...reader,
        step: reader.pinned === undefined ? 'scan 2' : 'pinned scan 2',
        hits: seen(isFirst).map((one) => one.id),
      });
    case 'scan 2':
    case 'pinned scan 2': {
      const all = [...reader.hits, ...seen((one) => !isFirst(one)).map((one) => one.id)].sort((a, b) => a - b);
      // The oldest rank first: the worst case, dead chunks crowd out the live ones.
      const hits = pool === undefined ? all : all.slice(0, pool);
      if (hits.length === 0) return answer(world, state, reader, [], undefined);
      if (reader.pinned !== undefined) return answer(world, state, reader, hits, reader.pinned);
      return to({ ...reader, step: 'commits', hits });
    }
    case 'commits': {
      const top = topOf(state.commits);
      const pinned: Pinned = {
        live: top !== undefined && maySee(world, state) ? top.live : [],
        superseded: top?.superseded ?? [],
        saw: top?.saw ?? -1,
      };
      const isBelieved = top !== undefined && (!rules.ageRule || reader.known.includes(top.attempt));
      const alive = reader.hits.filter((id) => isLive(id, pinned)).length;
      const isShort = pool !== undefined && reader.hits.length >= pool && alive < pool;
      if (rules.pinnedRetry && (!isBelieved || (alive < reader.hits.length && isShort)))
        return to({ ...reader, step: 'pinned scan 1', hits: [], pinned });
      return answer(world, state, reader, reader.hits, pinned);
    }
  }
}

function isLive(id: number, { live, superseded }: Pinned): boolean {
  return live.includes(attemptOf(id)) && !superseded.includes(id);
}

function answer(world: World, state: State, reader: Reader, hits: readonly number[], pinned: Pinned | undefined): Step {
  const shown = hits.filter((id) => !world.rules.visibilityCheck || (pinned !== undefined && isLive(id, pinned)));
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
  if (texts !== '' && (pinned?.saw ?? -1) <= reader.hiddenUpTo)
    return { label, state: { ...done, broken: 'text is shown whose level a commit had raised before the search began' } };
  return { label, state: done };
}
