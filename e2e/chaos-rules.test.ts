import { testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { RULES, tryRule } from './chaos/rules.js';

describe('the scenarios of the rules', () => {
  // Those of the grace, the pinned retry and the visibility check are the same one.
  it.each(['fence', 'delete-rule', 'visibility'] as const)(
    'show nothing wrong while all rules hold: %s',
    async (rule) => {
      expect(await tryRule(testServices().weaviate, rule, false)).toMatchObject({ violations: [] });
    },
    180_000,
  );

  it.each(RULES)(
    'catch that a rule is left out: %s',
    async (rule) => {
      const { scenario, polls, violations } = await tryRule(testServices().weaviate, rule, true);
      console.log(`without ${rule}: "${scenario}" shows after ${polls} polls: ${violations[0] ?? 'nothing'}`);
      expect(violations).not.toEqual([]);
    },
    180_000,
  );
});
