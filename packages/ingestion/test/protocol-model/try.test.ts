import { it } from 'vitest';
import { explore } from './explore.js';
import { ALL_RULES, without } from './rules.js';
import type { Scenario } from './state.js';
const base: Scenario = { versions: [{ text: 'ab' }, { text: 'ac' }], written: true, attempts: 2, rounds: 2, sweeps: true };
const list: [string, Scenario][] = [
  ['two attempts', base],
  ['two attempts, crash', { ...base, crashes: 1 }],
  ['two, reader', { ...base, reader: { clearance: 1, splits: ['odd attempts first'] } }],
];
it('x', () => {
  for (const [name, scenario] of list) {
    const t = Date.now();
    const r = explore({ scenario, rules: ALL_RULES }, 1_000_000);
    console.log(name, r.states, r.steps, r.complete, Date.now() - t, 'ms', r.counterexample);
  }
}, 600000);
