import { expect, it } from 'vitest';
import { explore } from './explore.js';
import { ALL_RULES } from './rules.js';
import { DEEP_SCENARIOS } from './scenarios.js';

it.each(Object.entries(DEEP_SCENARIOS))(
  'in every state of: %s',
  (name, scenario) => {
    const found = explore({ scenario, rules: ALL_RULES });
    process.stdout.write(`${found.states} states, ${found.steps} steps: ${name}\n`);
    expect(found.counterexample).toBeUndefined();
    expect(found.complete).toBe(true);
  },
  3_600_000,
);
