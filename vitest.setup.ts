import { randomInt } from 'node:crypto';
import fc from 'fast-check';

// A run of the suite says whether a change is good, so it must not depend on luck: properties take the same inputs each time.
// SLUICE_TEST_SEED gives them others: a number, or `random` (a failure prints the seed it had).
const asked = process.env.SLUICE_TEST_SEED ?? '20';
fc.configureGlobal({ seed: asked === 'random' ? randomInt(2 ** 31) : Number(asked) });
