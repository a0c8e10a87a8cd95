import { afterAll, describe, expect, it } from 'vitest';
import { explore } from './explore.js';
import { ALL_RULES } from './rules.js';
import { SCENARIOS } from './scenarios.js';

/** A story takes at most some seconds of processor time; the rest is for a machine that is busy with other things. */
const TIMEOUT_MS = 600_000;

describe('with all its rules the protocol holds', () => {
  const kinds = new Set<string>();
  const counts: string[] = [];
  afterAll(() => {
    console.log(`protocol model, states and steps visited:\n${counts.join('\n')}`);
  });

  it.each(Object.entries(SCENARIOS))(
    'in every state of: %s',
    (name, scenario) => {
      const found = explore({ scenario, rules: ALL_RULES });
      for (const kind of found.kinds) kinds.add(kind);
      counts.push(`${String(found.states).padStart(9)} ${String(found.steps).padStart(9)}  ${name}`);
      expect(found.counterexample).toBeUndefined();
      expect(found.complete).toBe(true);
    },
    TIMEOUT_MS,
  );

  it('and the scenarios hold every kind of step', () => {
    expect([...kinds].sort()).toEqual([
      'a reconcile begins',
      'attempt: base',
      'attempt: base, above the fence',
      'attempt: commit',
      'attempt: dies',
      'attempt: disk',
      'attempt: disk, again',
      'attempt: disk, fails',
      'attempt: disk, unchanged',
      'attempt: fence',
      'attempt: fence, gives up',
      'attempt: insert',
      'attempt: recheck commits, again',
      'attempt: recheck commits, done',
      'attempt: recheck disk',
      'attempt: recheck disk, again',
      'attempt: reread',
      'attempt: reread, again',
      'attempt: settle',
      'attempt: settle, unchanged',
      'audit: lists the tombstone',
      'clocks: set back',
      'disk: version',
      'reader: begins',
      'reader: commits, answers nothing',
      'reader: commits, answers text',
      'reader: commits, searches again',
      'reader: early commits',
      'reader: pinned scan',
      'reader: pinned scan 2, answers nothing',
      'reader: pinned scan 2, answers text',
      'reader: scan',
      'reader: scan 2, answers nothing',
      'reader: scan 2, answers text',
      'reader: scan 2, searches again',
      'redis: a replica takes over with fence',
      'redis: flushed',
      'sweep: delete chunk',
      'sweep: delete commit',
      'sweep: delete the tombstone',
      'sweep: dies',
      'sweep: ends at the counter',
      'sweep: has the content committed again',
      'sweep: list',
      'sweep: list, all above the fence, recommits',
      'sweep: list, nothing',
      'sweep: the counter is that of',
      'sweep: top',
      'sweep: top again',
    ]);
  });
});
