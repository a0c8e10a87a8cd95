import { levelOf, type State, topOf, versionAt, type World } from './state.js';
import { beginDrop, beginSweep, stepSweep, unnamed } from './sweeper.js';
import { beginAttempt, stepAttempt } from './writer.js';

/** What must hold in every state; the message says what does not. */
export function findFault(world: World, state: State): string | undefined {
  if (state.broken !== undefined) return state.broken;
  const top = topOf(state.commits);
  const missing = top?.named.find((id) => !state.chunks.some((one) => one.id === id));
  if (missing !== undefined) return `the top commit names chunk ${Math.floor(missing / 8)}.${missing % 8}, which is gone`;
  if (state.attempts.length > 0) return undefined;
  if (!state.due && !tellsOfDisk(world, state)) return 'every attempt has ended, and the store does not match the disk';
  return undefined;
}

function tellsOfDisk(world: World, state: State): boolean {
  const version = versionAt(world, state.disk);
  const top = topOf(state.commits);
  if (version.text === undefined) return top === undefined || top.status === 'deleted';
  if (top === undefined) return false;
  if (version.bad !== undefined) return top.status === 'failed';
  return top.status === 'indexed' && top.promises === [...version.text].sort().join('') && top.level === levelOf(version);
}

/**
 * What must come of a state in which no attempt is under way, however it was reached, when a scan, sweeps and an audit follow undisturbed:
 * the store matches the disk, whole, and nothing else is left in it.
 */
export function findLeftover(world: World, start: State): string | undefined {
  let state: State = { ...start, reader: undefined, sweep: undefined, left: { ...start.left, attempts: 99, fences: 99 } };
  state = finishAttempts(world, beginAttempt(state));
  for (let n = 0; n < 4; n += 1) {
    if (topOf(state.commits) === undefined) {
      // Chunks that no commit explains: the audit has the document committed again.
      if (state.chunks.length > 0) state = finishAttempts(world, beginAttempt(state, true));
    }
    for (const step of beginSweep(world, state)) state = step.state;
    while (state.sweep !== undefined) {
      const [step] = stepSweep(world, state, state.sweep);
      if (step === undefined) break;
      state = step.state;
    }
    state = finishAttempts(world, { ...state, sweep: undefined });
  }
  const fault = findFault(world, state);
  if (fault !== undefined) return `after a scan and sweeps ${fault}`;
  if (!tellsOfDisk(world, state)) return 'after a scan and sweeps the store does not match the disk';
  const top = topOf(state.commits);
  const extra = top === undefined ? state.chunks.length : unnamed({ ...world.rules, betweenStays: false }, state, top).length;
  if (extra > 0) return `after a scan and sweeps ${extra} objects are left that the top commit does not name`;
  if (top?.status === 'deleted' && beginDrop(world, state).length === 0) return 'after a scan and sweeps a tombstone cannot go';
  return undefined;
}

function finishAttempts(world: World, start: State): State {
  let state = start;
  for (let n = 0; n < 200; n += 1) {
    const [attempt] = state.attempts;
    if (attempt === undefined) return state;
    state = stepAttempt(world, state, attempt).state;
  }
  throw new Error('an attempt that nothing disturbs does not end');
}
