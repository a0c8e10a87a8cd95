import { stepsOf } from './environment.js';
import { findFault, findLeftover } from './properties.js';
import { initialState, type State, type World } from './state.js';

export interface Exploration {
  states: number;
  steps: number;
  /** Whether every state that can be reached was visited: no bound was hit and no fault ended the search. */
  complete: boolean;
  /** How often each kind of step was seen, so that a test can tell that the scenario is about what it says. */
  kinds: Map<string, number>;
  counterexample?: { fault: string; trace: string[] };
}

/** Breadth first over every state that can be reached, each visited once; so a counterexample is one of the shortest. */
export function explore(world: World, limit = 2_000_000): Exploration {
  const keyOf = createKeys();
  const first = initialState(world);
  const visited = new Set([keyOf(first)]);
  // Of each state: the number of the one it was reached from, and the step's label.
  const from: number[] = [-1];
  const labels: string[] = ['start'];
  let level: { state: State; number: number }[] = [{ state: first, number: 0 }];
  const kinds = new Map<string, number>();
  const settled = new Map<string, string | undefined>();
  let steps = 0;

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
      if (fault !== undefined)
        return { states: visited.size, steps, complete: false, kinds, counterexample: { fault, trace: traceOf(number) } };
      for (const step of stepsOf(world, state)) {
        steps += 1;
        const kind = kindOf(step.label);
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        const key = keyOf(step.state);
        if (visited.has(key)) continue;
        visited.add(key);
        next.push({ state: step.state, number: from.length });
        from.push(number);
        labels.push(step.label);
        if (visited.size > limit) return { states: visited.size, steps, complete: false, kinds };
      }
    }
    level = next;
  }
  return { states: visited.size, steps, complete: true, kinds };
}

/** The label without what tells one attempt or object from another. */
function kindOf(label: string): string {
  return label.replace(/^attempt \d+ \(fence \d+\)/, 'attempt').replace(/ [\d.]+\b.*/, '');
}

/** An exact key of a state: every part of it is numbered by its content the first time it is seen. */
function createKeys(): (state: State) => string {
  const numbers = new Map<string, number>();
  const known = new WeakMap<object, number>();
  const numberOf = (part: object): number => {
    const before = known.get(part);
    if (before !== undefined) return before;
    const text = JSON.stringify(part);
    let number = numbers.get(text);
    if (number === undefined) {
      number = numbers.size + 1;
      numbers.set(text, number);
    }
    known.set(part, number);
    return number;
  };
  return (state) => {
    const { disk, due, clock, run, taken, counter, past, chunks, commits, attempts, sweep, reader, left, told, broken = '' } = state;
    const parts: (number | string)[] = [
      disk,
      due ? 1 : 0,
      clock,
      run,
      taken,
      told,
      counter === undefined ? 0 : numberOf(counter),
      sweep === undefined ? 0 : numberOf(sweep),
      reader === undefined ? 0 : reader === false ? -1 : numberOf(reader),
      numberOf(left),
      numberOf(past),
      numberOf(chunks),
      numberOf(commits),
      // Attempts are alike: their order says nothing.
      ...attempts.map(numberOf).sort((a, b) => a - b),
      broken,
    ];
    return parts.join(',');
  };
}
