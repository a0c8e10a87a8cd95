import { STEPS } from '@sluice/ingestion';
import fc from 'fast-check';
import { STORE_CALLS } from '../with-before.js';

const PATHS = ['a.md', 'b.md', 'dir/c.md', 'dir/d.md', 'a.md/inner.md'] as const;

/** One path more often than the others: what is to be found happens between attempts on one document. */
const path = fc.constantFrom('a.md' as const, 'a.md' as const, 'a.md' as const, ...PATHS);
/** What becomes of the events of an operation. */
const events = fc.constantFrom('now', 'now', 'late', 'twice', 'lost');
const paragraphs = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 0, maxLength: 4 });

const RACE_POINTS = ['base', 'read', 'parsed', 'inserted', 'commit', 'committed'] as const;

/** An attempt that sleeps at a point until the race lets it go on. */
const racer = (often: 'fence' | 'insertRecord') =>
  fc.record({
    at: fc.oneof({ weight: 2, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: fc.constantFrom(...RACE_POINTS) }),
    recommit: fc.boolean(),
  });

export const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant('write' as const), path, paragraphs, level: fc.constantFrom(0, 0, 1, 3), events }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('corrupt' as const), path, events }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('remove' as const), path, events }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('move' as const), path, to: path, events }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('moveFolder' as const), events }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('sidecar' as const), path, level: fc.constantFrom(0, 2, 4), events }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('deliver' as const), pick: fc.nat() }) },
  {
    weight: 7,
    arbitrary: fc.record({
      op: fc.constant('fault' as const),
      at: fc.constantFrom(...STEPS, ...STORE_CALLS),
      skip: fc.integer({ min: 0, max: 2 }),
      wakes: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('wake' as const), pick: fc.nat() }) },
  {
    weight: 10,
    arbitrary: fc.record({
      op: fc.constant('race' as const),
      path,
      before: fc.option(paragraphs, { freq: 1 }),
      // The most harm is done where one has its fence and has seen nothing yet, and a later one is about to commit.
      first: racer('fence'),
      second: racer('insertRecord'),
      after: fc.option(paragraphs),
      order: fc.oneof(
        { weight: 2, arbitrary: fc.constant(['first' as const, 'sweep' as const, 'second' as const]) },
        fc.shuffledSubarray(['first' as const, 'second' as const, 'sweep' as const], { minLength: 3 }),
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('sweep' as const), path, graceOver: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ op: 'audit' as const }) },
  { weight: 1, arbitrary: fc.constant({ op: 'flush' as const }) },
  { weight: 1, arbitrary: fc.constant({ op: 'restart' as const }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('root' as const), lost: fc.boolean() }) },
);
export type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

export const histories = fc.array(command, { minLength: 5, maxLength: 50, size: 'max' });
