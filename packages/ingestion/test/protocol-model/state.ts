import type { Rules } from './rules.js';

/**
 * What the disk says of the one document, in order. Every letter of `text` is a chunk; no text: the file is gone.
 * `bad`: the content cannot be parsed, or its level cannot be read.
 */
export interface Version {
  text?: string;
  level?: number;
  bad?: 'content' | 'access';
}

export const HIDDEN = 5;

export interface Chunk {
  /** attempt * 8 + n */
  id: number;
  attempt: number;
  fence: number;
  text: string;
  level: number;
}

export interface Commit {
  attempt: number;
  fence: number;
  base: number;
  live: readonly number[];
  superseded: readonly number[];
  /** The manifest: ids of the live chunks. */
  named: readonly number[];
  /** Their texts, a letter each. */
  texts: string;
  status: 'indexed' | 'deleted' | 'failed';
  level: number;
  /** Version whose stat it carries; -1 for an empty stat, which says that the file is still to be read. */
  stat: number;
  /** Not stored, for the properties: the version its attempt saw, and the text that whoever may see it must get. */
  saw: number;
  promises: string;
}

export interface Counter {
  fence: number;
  attempt: number;
  run: number;
}

type AttemptStep =
  | 'settle'
  | 'early base'
  | 'fence'
  | 'base'
  | 'disk'
  | 'insert'
  | 'reread'
  | 'commit'
  | 'recheck disk'
  | 'recheck commits';

/** One reconcile, of any number of rounds. It may stop for ever at any step: a sleeper is one that is not moved. */
export interface Attempt {
  step: AttemptStep;
  /** Set after a bad version was read: what it commits now is that failure. */
  failed?: number;
  recommit?: boolean;
  /** It has not compared disk and commits before its fence, and does so after it. */
  late?: boolean;
  /** Version seen by the look that comes before the first fence, then by the round. */
  disk: number;
  fence: number;
  attempt: number;
  floor: number;
  base?: Commit | undefined;
  inserts: readonly Chunk[];
  record?: Commit | undefined;
  /** The commit applies a stricter access only: the round that follows writes the content. */
  raises?: boolean;
}

export type Sweep =
  | { step: 'top'; counter: Counter | undefined }
  | { step: 'counter'; top: Commit }
  | { step: 'list'; top: Commit }
  | { step: 'reread' | 'delete'; top: Commit; objects: readonly Doomed[] }
  | { step: 'drop'; top: Commit };

export interface Doomed {
  kind: 'chunk' | 'commit';
  id: number;
}

export interface Reader {
  step: 'scan 1' | 'early commits' | 'scan 2' | 'commits' | 'pinned scan 1' | 'pinned scan 2';
  /** Which half of the objects the first step of a scan sees. */
  split: Split;
  hits: readonly number[];
  judged?: Judged;
  /** Commits that existed when it began. */
  known: readonly number[];
  /** Not known to it: the texts that a snapshot at or after its begin would have given, each as sorted letters. */
  allowed: readonly string[];
  /** Not known to it: nothing that shows this version or an earlier one may be shown; -1: no such. */
  hiddenUpTo: number;
}

/** What the reader may show, by the commits it read. */
export interface Judged {
  live: readonly number[];
  superseded: readonly number[];
  /** The top commit existed before the search began. */
  believed: boolean;
  /** Not known to it: the version its commit describes; -1 without a commit. */
  saw: number;
}

/** A search is no snapshot: one of these halves is read first, the other later. */
export const SPLITS = {
  'odd attempts last': (chunk: Chunk) => chunk.attempt % 2 === 0,
  'odd attempts first': (chunk: Chunk) => chunk.attempt % 2 === 1,
  'odd chunks last': (chunk: Chunk) => chunk.id % 2 === 0,
  'odd chunks first': (chunk: Chunk) => chunk.id % 2 === 1,
} as const;
export type Split = keyof typeof SPLITS;

/** What can happen, and how often. All of it may happen at any moment that the protocol's assumptions allow. */
export interface Scenario {
  versions: readonly Version[];
  /** Whether version 0 has been written before the story begins. */
  written: boolean;
  /** A fence was taken after it by an attempt that died. */
  wasted?: boolean;
  /** Redis was flushed after it and the clocks were set back, before anything else began. */
  behind?: boolean;
  /** Reconciles compare disk and commits only after their fence. */
  adds?: boolean;
  /** Reconciles that may begin, those of the sweep included. */
  attempts: number;
  /** Fences that may be taken: one for each round of a reconcile, and for a failure's commit. */
  fences: number;
  crashes?: number;
  flushes?: number;
  rollbacks?: number;
  clockBacks?: number;
  sweeps?: boolean;
  /** Tombstones are deleted too. */
  tombstones?: boolean;
  reader?: { clearance: number; splits: readonly Split[]; pool?: number };
}

export interface World {
  readonly scenario: Scenario;
  readonly rules: Rules;
}

export interface State {
  disk: number;
  /** A reconcile is due: the disk changed, or one crashed, since the last one began. */
  due: boolean;
  clock: number;
  counter: Counter | undefined;
  /** What the counter was before, for a rollback. */
  past: readonly Counter[];
  run: number;
  /** Fences taken so far: the next attempt's uuid. */
  taken: number;
  chunks: readonly Chunk[];
  commits: readonly Commit[];
  attempts: readonly Attempt[];
  sweep: Sweep | undefined;
  /** `false`: it has answered. */
  reader: Reader | undefined | false;
  left: Left;
  /** The newest version that a commit has described. */
  told: number;
  /** A rule was seen to be broken in the step that led here. */
  broken?: string;
}

interface Left {
  attempts: number;
  fences: number;
  crashes: number;
  flushes: number;
  rollbacks: number;
  clockBacks: number;
}

export interface Step {
  label: string;
  state: State;
}

export function topOf(commits: readonly Commit[]): Commit | undefined {
  let top: Commit | undefined;
  for (const commit of commits)
    if (top === undefined || commit.fence > top.fence || (commit.fence === top.fence && commit.attempt > top.attempt))
      top = commit;
  return top;
}

export function levelOf(version: Version | undefined): number {
  return version?.bad === 'access' ? HIDDEN : (version?.level ?? 1);
}

export function versionAt({ scenario }: World, n: number): Version {
  return scenario.versions[n] ?? {};
}

export function sortLetters(text: string): string {
  return [...text].sort().join('');
}

export function initialState(world: World): State {
  const { scenario } = world;
  const { attempts, fences, crashes = 0, flushes = 0, rollbacks = 0, clockBacks = 0 } = scenario;
  const empty: State = {
    disk: 0,
    due: true,
    clock: 1,
    counter: undefined,
    past: [],
    run: 0,
    taken: 0,
    chunks: [],
    commits: [],
    attempts: [],
    sweep: undefined,
    reader: undefined,
    left: { attempts, fences, crashes, flushes, rollbacks, clockBacks },
    told: -1,
  };
  if (!scenario.written) return empty;
  const { text = '', level = 1 } = versionAt(world, 0);
  const chunks = [...text].map((letter, n) => ({ id: n, attempt: 0, fence: 1, text: letter, level }));
  const commit: Commit = {
    attempt: 0,
    fence: 1,
    base: 0,
    live: [0],
    superseded: [],
    named: chunks.map((chunk) => chunk.id),
    texts: text,
    status: 'indexed',
    level,
    stat: 0,
    saw: 0,
    promises: sortLetters(text),
  };
  const newest = scenario.wasted ? 1 : 0;
  const counter = { fence: 1 + newest, attempt: newest, run: 0 };
  const written: State = {
    ...empty,
    due: false,
    taken: 1 + newest,
    clock: 1 + newest,
    counter,
    chunks,
    commits: [commit],
    told: 0,
  };
  return scenario.behind ? { ...written, counter: undefined, clock: 0 } : written;
}
