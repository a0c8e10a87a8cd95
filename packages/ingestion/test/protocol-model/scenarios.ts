import type { Scenario } from './state.js';

/** Two writers that take at most three fences, and a sweep, over a document that was written before. */
const common = { written: true, attempts: 2, fences: 3, sweeps: true } satisfies Partial<Scenario>;
const reader = { clearance: 1, splits: ['odd attempts first'] } satisfies Scenario['reader'];
const keepAndDrop = [{ text: 'ab' }, { text: 'b' }, { text: 'a' }];

/** Small enough for every test run; together they hold every kind of step. */
export const SCENARIOS = {
  'one edit and a reader': {
    ...common,
    attempts: 1,
    versions: [{ text: 'ab' }, { text: 'ac' }],
    reader: { clearance: 1, splits: ['odd attempts first', 'odd attempts last', 'odd chunks first', 'odd chunks last'] },
  },
  'an edit by two writers and a reader': { ...common, versions: [{ text: 'ab' }, { text: 'ac' }], reader },
  'an edit and a crash': { ...common, versions: [{ text: 'ab' }, { text: 'ac' }], crashes: 1 },
  'two edits within the grace': { ...common, sweeps: false, versions: [{ text: 'ab' }, { text: 'ac' }, { text: 'ad' }], reader },
  'one keeps what another drops': { ...common, attempts: 3, fences: 2, versions: keepAndDrop },
  'a text that comes back': { ...common, versions: [{ text: 'ab' }, { text: 'a' }, { text: 'ab' }] },
  'Redis is flushed': { ...common, wasted: true, versions: keepAndDrop, flushes: 1 },
  'Redis was flushed and the clocks are behind': { ...common, behind: true, versions: keepAndDrop },
  'three writers, flush and clocks': {
    ...common,
    attempts: 3,
    sweeps: false,
    versions: [{ text: 'a' }, { text: 'b' }],
    flushes: 1,
    clockBacks: 1,
  },
  'a replica takes over': { ...common, fences: 2, versions: keepAndDrop, rollbacks: 1 },
  'delete and add again': { ...common, versions: [{ text: 'a' }, {}, { text: 'b' }], tombstones: true },
  'delete, add again and a reader': {
    ...common,
    fences: 2,
    versions: [{ text: 'a' }, {}, { text: 'a' }],
    tombstones: true,
    reader,
  },
  'a new file that goes, and a crash': {
    ...common,
    written: false,
    versions: [{ text: 'ab' }, {}],
    tombstones: true,
    crashes: 1,
  },
  'a new file by two writers, compared after the fence': {
    ...common,
    adds: true,
    written: false,
    versions: [{ text: 'ab' }, {}, { text: 'a' }],
    tombstones: true,
    crashes: 1,
  },
  'an edit, compared after the fence, and a reader': {
    ...common,
    adds: true,
    versions: [{ text: 'ab' }, { text: 'ac' }],
    reader,
  },
  'a level rises': { ...common, sweeps: false, versions: [{ text: 'a' }, { text: 'a', level: 3 }], reader },
  'the level of a new file rises': { ...common, written: false, versions: [{ text: 'a' }, { text: 'a', level: 3 }], reader },
  'a level rises and falls': {
    ...common,
    sweeps: false,
    versions: [{ text: 'a' }, { text: 'a', level: 3 }, { text: 'a' }],
    reader,
  },
  'content fails and is fixed': { ...common, versions: [{ text: 'a' }, { text: 'b', bad: 'content' }, { text: 'c' }], reader },
  'content fails as its level rises': { ...common, versions: [{ text: 'a' }, { text: 'b', level: 3, bad: 'content' }], reader },
  'a level becomes invalid': { ...common, versions: [{ text: 'a' }, { text: 'a', bad: 'access' }], reader },
  'dead chunks crowd out the live': {
    ...common,
    attempts: 1,
    versions: [{ text: 'ab' }, { text: 'cd' }],
    reader: { ...reader, pool: 2 },
  },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

/** The same stories with more of everything; `npm run model`. */
export const DEEP_SCENARIOS = {
  'a level rises, with the sweep': { ...common, versions: [{ text: 'a' }, { text: 'a', level: 3 }], reader },
  'two writers, flush and clocks': { ...common, versions: keepAndDrop, flushes: 1, clockBacks: 1 },
  'three writers, a crash': { ...common, attempts: 3, fences: 4, versions: [{ text: 'ab' }, { text: 'ac' }], crashes: 1 },
  'two edits, sweep and reader': { ...common, versions: [{ text: 'ab' }, { text: 'ac' }, { text: 'ad' }], reader },
  'a reader while one keeps what another drops': { ...common, attempts: 3, fences: 2, versions: keepAndDrop, reader },
  'three writers and a flush': { ...common, attempts: 3, versions: keepAndDrop, flushes: 1, clockBacks: 1 },
  'three writers and a failover': { ...common, attempts: 3, versions: keepAndDrop, rollbacks: 1, clockBacks: 1 },
  'delete and add again, a flush': {
    ...common,
    versions: [{ text: 'ab' }, {}, { text: 'ab' }],
    tombstones: true,
    flushes: 1,
    clockBacks: 1,
  },
  'delete, add again, reader and crash': {
    ...common,
    versions: [{ text: 'a' }, {}, { text: 'b' }],
    tombstones: true,
    crashes: 1,
    reader,
  },
  'a level rises and falls, with the sweep': {
    ...common,
    versions: [{ text: 'a' }, { text: 'a', level: 3 }, { text: 'a' }],
    reader,
  },
  'a level rises, with a crash': {
    ...common,
    written: false,
    versions: [{ text: 'a' }, { text: 'a', level: 3 }],
    crashes: 1,
    reader,
  },
  'a level rises, with a flush': {
    ...common,
    written: false,
    versions: [{ text: 'a' }, { text: 'a', level: 3 }],
    flushes: 1,
    reader,
  },
  'content fails, with a crash': {
    ...common,
    versions: [{ text: 'a' }, { text: 'b', bad: 'content' }, { text: 'c', level: 3 }],
    crashes: 1,
    reader,
  },
} satisfies Record<string, Scenario>;
