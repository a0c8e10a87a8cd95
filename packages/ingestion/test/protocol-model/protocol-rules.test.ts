import { describe, expect, it } from 'vitest';
import { explore } from './explore.js';
import { RULES, type Rule, without } from './rules.js';
import { SCENARIOS, type ScenarioName } from './scenarios.js';

const LOST = /^(after a scan and sweeps )?the top commit names chunk \d+\.\d+, which is gone$/;
const STALE = /the store does not match the disk$/;
const WRONG_ANSWER = /^the answer is no revision that was on top since the search began/;
const LEAK = /^text is shown whose level a commit had raised before the search began$/;
const LEFTOVER = /objects are left that the top commit does not name$/;

/** Each of these rules is needed even where all others hold: in which story, and what goes wrong without it. */
const NEEDED: [Rule, ScenarioName, RegExp][] = [
  ['clocksInFence', 'Redis is flushed', LOST],
  ['keepFromBaseOnly', 'a text that comes back', LOST],
  ['supersededAccumulates', 'two edits within the grace', WRONG_ANSWER],
  ['commitApart', 'an edit and a crash', LOST],
  ['recheckDisk', 'a text that comes back', STALE],
  ['failureNamesBase', 'content fails and is fixed', WRONG_ANSWER],
  ['failureAppliesAccess', 'content fails as its level rises', LEAK],
  ['failureAppliesAccess', 'a level becomes invalid', LEAK],
  ['failureTellsOwnBytes', 'content fails and is fixed', STALE],
  ['topBeforeCounter', 'a text that comes back', LOST],
  ['counterHolds', 'one keeps what another drops', LOST],
  ['runIdCompared', 'a replica takes over', LOST],
  ['bornBefore', 'an edit and a crash', LOST],
  ['orphansAbove', 'three writers, flush and clocks', LEFTOVER],
  ['grace', 'dead chunks crowd out the live', WRONG_ANSWER],
  ['searchWithinGrace', 'dead chunks crowd out the live', WRONG_ANSWER],
  ['betweenStays', 'the level of a new file rises', LEAK],
  ['betweenClearance', 'the level of a new file rises', LEAK],
  ['tombstoneLast', 'delete and add again', STALE],
  ['tombstoneOutlivesSleepers', 'delete and add again', LOST],
  ['visibilityCheck', 'one edit and a reader', WRONG_ANSWER],
  ['ageRule', 'one edit and a reader', WRONG_ANSWER],
  ['pinnedRetry', 'one edit and a reader', WRONG_ANSWER],
  ['pinnedRetry', 'dead chunks crowd out the live', WRONG_ANSWER],
];

/** Each of these rules covers for the other: nothing goes wrong without one of them, but without both. */
const PAIRS: [Rule, Rule, ScenarioName, RegExp][] = [
  ['rereadBeforeCommit', 'baseAfterFence', 'a text that comes back', LOST],
  ['rereadBeforeCommit', 'floorRetakesBase', 'Redis was flushed and the clocks are behind', LOST],
];

/** No story was found in which these matter. They narrow the moment in which a broken assumption does harm. */
const SECOND_LINES: [Rule, ScenarioName[]][] = [
  ['recheckBetween', ['a level rises and falls', 'a text that comes back']],
  ['rereadBeforeDelete', ['a text that comes back', 'a replica takes over', 'delete and add again']],
];

/** Explored until something goes wrong; how it came about is printed in one line. */
function faultOf(scenario: ScenarioName, ...left: Rule[]): string | undefined {
  const { counterexample, states } = explore({ scenario: SCENARIOS[scenario], rules: without(...left) });
  if (counterexample === undefined) return undefined;
  const { fault, trace } = counterexample;
  console.log(`${left.map((rule) => RULES[rule]).join('; ')} (${states} states): ${trace.join(' | ')} => ${fault}`);
  return fault;
}

const holds = (scenario: ScenarioName, rule: Rule) => explore({ scenario: SCENARIOS[scenario], rules: without(rule) }).complete;

/** Seconds of processor time at most; the rest is for a machine that is busy with other things. */
const TIMEOUT_MS = 600_000;

describe('without a rule the protocol fails', () => {
  it.each(NEEDED)(
    '%s: %s',
    (rule, scenario, fault) => {
      expect(faultOf(scenario, rule)).toMatch(fault);
    },
    TIMEOUT_MS,
  );

  it.each(PAIRS)(
    '%s or %s: %s',
    (one, other, scenario, fault) => {
      expect(holds(scenario, one)).toBe(true);
      expect(holds(scenario, other)).toBe(true);
      expect(faultOf(scenario, one, other)).toMatch(fault);
    },
    TIMEOUT_MS,
  );
});

describe('a second line', () => {
  it.each(SECOND_LINES)(
    '%s is not needed as long as the other rules and the assumptions hold',
    (rule, scenarios) => {
      for (const scenario of scenarios) expect(holds(scenario, rule), scenario).toBe(true);
    },
    TIMEOUT_MS,
  );
});

it('every rule is in one of the lists', () => {
  const listed = new Set([
    ...NEEDED.map(([rule]) => rule),
    ...PAIRS.map(([one]) => one),
    ...PAIRS.map(([, other]) => other),
    ...SECOND_LINES.map(([rule]) => rule),
  ]);
  expect([...listed].sort()).toEqual(Object.keys(RULES).sort());
});
