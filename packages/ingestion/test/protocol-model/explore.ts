import { stepsOf } from './environment.js';
import { findFault, findLeftover } from './properties.js';
import { type Attempt, initialState, type State, type Sweep, type World } from './state.js';

export interface Exploration {
  states: number;
  steps: number;
  /** Whether every state that can be reached was visited: no bound was hit and no fault ended the search. */
  complete: boolean;
  /** The kinds of step that occurred, so that a test can tell that a scenario is about what it says. */
  kinds: Set<string>;
  /** States in which something is wrong. More than one only where they are counted; what follows from them is not looked at. */
  faults: number;
  counterexample?: { fault: string; trace: string[] };
}

/** Breadth first over every state that can be reached, each visited once; so a counterexample is one of the shortest. */
export function explore(world: World, options: { limit?: number; countFaults?: boolean } = {}): Exploration {
  const { limit = 20_000_000, countFaults = false } = options;
  const keyOf = createKeys();
  const first = initialState(world);
  const visited = new Set([keyOf(first)]);
  // Of each state: the number of the one it was reached from, and the step's label.
  const from: number[] = [-1];
  const labels: string[] = ['start'];
  // Millions of states share some thousands of labels.
  const interned = new Map<string, string>();
  let level: { state: State; number: number }[] = [{ state: first, number: 0 }];
  const settled = new Map<string, string | undefined>();
  const found: Exploration = { states: 1, steps: 0, complete: true, kinds: new Set(), faults: 0 };

  const leftoverOf = (state: State): string | undefined => {
    const key = keyOf({ ...state, reader: undefined, sweep: undefined, due: true });
    if (!settled.has(key)) settled.set(key, findLeftover(world, state));
    return settled.get(key);
  };
  const traceOf = (number: number): string[] => {
    const trace: string[] = [];
    for (let at = number; at > 0; at = from[at] ?? 0) trace.unshift(labels[at] ?? '');
    return trace;
  };

  while (level.length > 0) {
    const next: typeof level = [];
    for (const { state, number } of level) {
      const fault = findFault(world, state) ?? (state.attempts.length === 0 && !state.sweep ? leftoverOf(state) : undefined);
      if (fault !== undefined) {
        found.faults += 1;
        found.complete = false;
        found.counterexample ??= { fault, trace: traceOf(number) };
        if (!countFaults) return found;
        continue;
      }
      for (const step of stepsOf(world, state)) {
        found.steps += 1;
        let label = interned.get(step.label);
        if (label === undefined) {
          label = step.label;
          interned.set(label, label);
          found.kinds.add(kindOf(label));
        }
        const key = keyOf(step.state);
        if (visited.has(key)) continue;
        visited.add(key);
        found.states = visited.size;
        if (visited.size > limit) return { ...found, complete: false };
        next.push({ state: step.state, number: from.length });
        from.push(number);
        labels.push(label);
      }
    }
    level = next;
  }
  return found;
}

/** The label without what tells one attempt, object or version from another. */
function kindOf(label: string): string {
  return label
    .replace(/^(new )?attempt( after \d+| \d+ \(fence \d+\))?/, 'attempt')
    .replace(/dies before .*/, 'dies')
    .replace(/, version \d+ fails/, ', fails')
    .replace(/: list (chunk|commit) .*/, ': list')
    .replace(/answers (?!nothing).*/, 'answers text')
    .replace(/ \(.*\)/, '')
    .replace(/ [\d.]+$/, '');
}

/** An exact key of a state: every part of it is numbered by its content the first time it is seen. */
function createKeys(): (state: State) => string {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  const numberOf = <T extends object>(part: T | undefined, textOf: (part: T) => string = JSON.stringify): number => {
    if (part === undefined) return 0;
    const before = known.get(part);
    if (before !== undefined) return before;
    const text = textOf(part);
    let number = numbers.get(text);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(text, number);
    }
    known.set(part, number);
    return number;
  };
  const objects = (list: readonly object[]) => `[${list.map((one) => numberOf(one)).join()}]`;
  const attempt = (one: Attempt) =>
    `a${one.step},${one.failed},${one.recommit},${one.late},${one.disk},${one.fence},${one.attempt},${one.floor},${one.raises},` +
    `${numberOf(one.base)},${numberOf(one.record)},${numberOf(one.inserts, objects)}`;
  const sweep = (one: Sweep) =>
    'top' in one ? `s${one.step},${numberOf(one.top)},${'objects' in one ? numberOf(one.objects) : ''}` : JSON.stringify(one);
  return (state) => {
    const { disk, due, clock, run, taken, told, left, broken = '' } = state;
    // Attempts are alike: their order says nothing.
    const attempts = state.attempts.map((one) => numberOf(one, attempt)).sort((a, b) => a - b);
    const { attempts: a, fences: f, crashes: c, flushes: r, rollbacks: b, clockBacks: k } = left;
    const reader = state.reader === false ? 'answered' : numberOf(state.reader);
    return (
      `${disk},${due},${clock},${run},${taken},${told},${a},${f},${c},${r},${b},${k},${numberOf(state.counter)},` +
      `${numberOf(state.past)},${numberOf(state.chunks, objects)},${numberOf(state.commits, objects)},` +
      `${numberOf(state.sweep, sweep)},${reader},${attempts.join()},${broken}`
    );
  };
}
