import { beginRead, stepReader, witness } from './reader.js';
import { type State, type Step, topOf, type World } from './state.js';
import { beginDrop, beginSweep, stepSweep } from './sweeper.js';
import { beginAttempt, crash, nameOf, stepAttempt } from './writer.js';

/** Everything that can happen next. */
export function stepsOf(world: World, state: State): Step[] {
  const { scenario } = world;
  const steps: Step[] = [];
  for (const attempt of state.attempts) {
    steps.push(stepAttempt(world, state, attempt));
    if (state.left.crashes > 0)
      steps.push({ label: `${nameOf(attempt)}: dies before ${attempt.step}`, state: crash(state, attempt) });
  }
  if (state.left.attempts > 0) steps.push({ label: 'a reconcile begins', state: beginAttempt(state) });
  if (state.disk + 1 < scenario.versions.length)
    steps.push({ label: `disk: version ${state.disk + 1}`, state: { ...state, disk: state.disk + 1, due: true } });
  if (state.sweep !== undefined) {
    steps.push(...stepSweep(world, state, state.sweep), { label: 'sweep: dies', state: { ...state, sweep: undefined } });
  } else if (scenario.sweeps) {
    steps.push(...beginSweep(world, state));
    if (scenario.tombstones) steps.push(...beginDrop(world, state));
  }
  steps.push(...redisSteps(state).filter((step) => keepsAssumption(step.state)));
  if (state.reader) steps.push(...stepReader(world, state, state.reader));
  else if (state.reader === undefined)
    for (const split of scenario.reader?.splits ?? []) steps.push(beginRead(world, state, split));
  return steps.map(({ label, state: next }) => ({ label, state: witness(world, next) }));
}

function redisSteps(state: State): Step[] {
  const { left } = state;
  const steps: Step[] = [];
  if (left.flushes > 0 && state.counter !== undefined)
    steps.push({
      label: 'redis: flushed',
      state: { ...state, counter: undefined, past: [], left: { ...left, flushes: left.flushes - 1 } },
    });
  if (left.rollbacks > 0)
    for (const counter of state.past)
      steps.push({
        label: `redis: a replica takes over with fence ${counter.fence}`,
        state: { ...state, counter, past: [], run: state.run + 1, left: { ...left, rollbacks: left.rollbacks - 1 } },
      });
  if (left.clockBacks > 0)
    steps.push({ label: 'clocks: set back', state: { ...state, clock: 0, left: { ...left, clockBacks: left.clockBacks - 1 } } });
  return steps;
}

/** The documented assumption: not all of the counter, the clocks and the base's fence go back past an attempt in flight. */
function keepsAssumption(state: State): boolean {
  const highest = Math.max(state.counter?.fence ?? 0, state.clock, topOf(state.commits)?.fence ?? 0);
  return state.attempts.every((attempt) => attempt.fence <= highest);
}
