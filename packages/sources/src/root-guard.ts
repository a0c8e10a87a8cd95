import { type Clock, type EntryStat, type Files, isAbsence, systemClock } from '@sluice/core';
import { errorCode } from './node-files.js';
import { createOwnDecision } from './own-decision.js';
import { absolutePath } from './paths.js';
import { createRootMemory, type Identity, sameFolder } from './root-memory.js';

/** State of a source's root. In all but `ok` nothing may be deleted. */
export type RootState = { state: 'ok' } | { state: 'missing' | 'unreadable' | 'replaced'; message: string };

/** What a folder has in common on all machines that mount it; `birth` is '0' where the file system keeps none. */
export interface FolderMarks {
  inode: string;
  birth: string;
}

export interface RootGuard {
  /**
   * Looks at the root and remembers it when it is seen for the first time. A root that is another folder than before is accepted
   * when it evidently holds the same source: at least half of a sample of the known documents are there, or none are known. A refused
   * folder is asked for the same sample until a root is accepted: what is indexed from it meanwhile says nothing for it.
   *
   * @param known paths of documents that the store holds. Without them another root is `replaced` until a check that has them.
   */
  check(known?: Iterable<string>): Promise<RootState>;
  /**
   * What any process may ask before a delete. Without `known` in the guard's options it remembers and accepts nothing; with it, a root
   * that neither the state file nor the watcher names is decided on as check() does, and the answer is kept in memory.
   *
   * @param options.list also tries whether the root can be listed, which takes long for a large folder; default false: who looks at
   *   one path learns by that whether it can be read
   */
  look(options?: { list?: boolean }): Promise<RootState>;
  /** Marks of the folder that the state file names: what other processes, also on other machines, may know it by. */
  remembered(): Promise<FolderMarks | undefined>;
  /** Takes the folder that is there now for the source's root: an operator's word. Missing or unreadable ones stay so. */
  accept(): Promise<RootState>;
}

export interface RootGuardOptions {
  source: string;
  /** Absolute path; may be a link to the folder. */
  root: string;
  /** `<data>/sources`: holds `<source>.json`, and `<source>.doubt.json` while a root is refused. */
  stateFolder: string;
  files: Files;
  /**
   * For a process that is not the watcher, whose data folder may be another than the watcher's: a sample of the documents that the
   * store holds of this source, or those of `among` that it still holds. Asked for once for each folder that the root turns out to be,
   * once a minute where it is refused.
   */
  known?: (among?: readonly string[]) => Promise<readonly string[]>;
  /** What the watcher, wherever it runs, says of the root now: the folder that it takes for it, `none`, or nothing at all. */
  told?: () => Promise<FolderMarks | 'none' | undefined>;
  /** Default: the system's. */
  clock?: Pick<Clock, 'monotonic'>;
}

/** What was seen of the root. */
interface Seen extends Identity {
  mtimeNs: string;
}

/** Known documents that are looked for when the root is another folder than before. */
export const SAMPLE = 40;

/** Tells a lost root from an emptied one by the identity of the folder: device, inode, and birth, since inodes are given again. */
export function createRootGuard(options: RootGuardOptions): RootGuard {
  const memory = createRootMemory(options.stateFolder, options.source);
  const observe = (list: boolean) => observeRoot(options, list);
  const decideAlone = options.known && createLookOfOthers({ ...options, known: options.known });

  async function judge(known: Iterable<string> | undefined, list: boolean): Promise<RootState> {
    const seen = await observe(list);
    if ('state' in seen) return seen;
    const before = await memory.identity();
    if (before !== undefined && sameFolder(before, seen)) {
      if (known !== undefined) await memory.endDoubt();
      return { state: 'ok' };
    }
    if (known === undefined || !(await isConvincing(known))) return replaced(options, before);
    await memory.remember(seen);
    return { state: 'ok' };
  }

  /** Whether another folder than before holds the source; what it is asked for stays the same while it is refused and known. */
  async function isConvincing(known: Iterable<string>): Promise<boolean> {
    const before = new Set(await memory.doubted());
    const paths = [...known];
    const asked = paths.filter((path) => before.has(path));
    const sample = asked.length > 0 ? asked : takeSample(paths);
    if (await holdsHalf(options, sample)) return true;
    await memory.doubt(sample);
    return false;
  }

  return {
    check: (known) => judge(known, true),
    async look({ list = false } = {}) {
      if (decideAlone === undefined) return judge(undefined, list);
      const seen = await observe(list);
      return 'state' in seen ? seen : decideAlone(seen, await memory.identity());
    },
    async remembered() {
      const identity = await memory.identity();
      return identity && { inode: identity.inode, birth: identity.birth };
    },
    async accept() {
      const seen = await observe(true);
      if ('state' in seen) return seen;
      await memory.remember(seen);
      return { state: 'ok' };
    },
  };
}

/**
 * The look of a process that is not the watcher: it goes by the state file, then by what the watcher says, and only then by the documents.
 * Its answers are kept in memory.
 */
function createLookOfOthers(options: RootGuardOptions & Required<Pick<RootGuardOptions, 'known'>>) {
  const { root, files, known, clock = systemClock } = options;
  let lastTold: FolderMarks | undefined;
  /** The documents that the root refused last was asked for. */
  let doubted: readonly string[] | undefined;
  const own = createOwnDecision<Seen>({
    clock,
    isSame: sameFolder,
    async decide(seen) {
      // What was indexed from a refused folder says nothing for it; what others deleted meanwhile says nothing against it.
      const asked = doubted === undefined ? [] : await known(doubted);
      const paths = asked.length > 0 ? asked : await known();
      const holds = await holdsHalf(options, takeSample(paths));
      const isEmpty = paths.length === 0 && (await files.list(root)).length === 0;
      // The sample may have been found in, or missed by, what was mounted meanwhile.
      const after = await observeRoot(options, false);
      if ('state' in after || !sameFolder(after, seen)) return 'undecided';
      doubted = holds ? undefined : paths;
      return holds ? (isEmpty ? 'empty' : 'accepted') : 'refused';
    },
  });

  return async (seen: Seen, before: Identity | undefined): Promise<RootState> => {
    if (before !== undefined && sameFolder(before, seen)) {
      doubted = undefined;
      own.defer();
      return { state: 'ok' };
    }
    const isOk = (await isWatchers(seen)) ?? (await own.accepts(seen));
    return isOk ? { state: 'ok' } : unlike(root);
  };

  /** False while the watcher has no root; undefined where it does not say, or knows a folder that this one can't be compared with. */
  async function isWatchers(seen: Seen): Promise<boolean | undefined> {
    // While the queue is away, or was flushed, what was said last still holds: the folder must be that very one.
    const told = (await options.told?.().catch(() => undefined)) ?? lastTold;
    if (told === undefined || told === 'none') return told === undefined ? undefined : false;
    lastTold = told;
    return told.inode === seen.inode && told.birth === seen.birth ? true : undefined;
  }
}

/** The root's identity, or why it has none. */
async function observeRoot(
  { root, files }: Pick<RootGuardOptions, 'root' | 'files'>,
  list: boolean,
): Promise<Seen | Exclude<RootState, { state: 'ok' }>> {
  try {
    const real = await files.realpath(root);
    const stat = await files.stat(real);
    if (stat === undefined || stat.kind !== 'folder') return missing(root, stat);
    if (list) await files.list(real);
    return { root, device: stat.device ?? '', inode: stat.inode, birth: stat.birthNs ?? '0', mtimeNs: stat.mtimeNs };
  } catch (error) {
    if (isAbsence(error)) return missing(root, undefined);
    return {
      state: 'unreadable',
      message: `${root} cannot be read (${errorCode(error) ?? String(error)}); deletes are suspended until it can`,
    };
  }
}

async function holdsHalf({ root, files }: Pick<RootGuardOptions, 'root' | 'files'>, sample: readonly string[]): Promise<boolean> {
  let found = 0;
  for (const path of sample) {
    const stat = await files.stat(absolutePath(root, path)).catch(() => undefined);
    if (stat?.kind === 'file') found++;
  }
  return found * 2 >= sample.length;
}

function missing(root: string, stat: EntryStat | undefined): Exclude<RootState, { state: 'ok' }> {
  const what = stat === undefined ? 'is not there' : 'is not a folder';
  return { state: 'missing', message: `${root} ${what}; its documents are kept and deletes are suspended until it is back` };
}

function replaced({ source, root }: Pick<RootGuardOptions, 'source' | 'root'>, before: Identity | undefined): RootState {
  const why = before === undefined ? 'holds none of the documents known of it' : 'is another folder than before';
  return {
    state: 'replaced',
    message: `${root} ${why}; documents that are gone from it are kept. If that is meant, run: sluice reindex --source ${source}`,
  };
}

function unlike(root: string): RootState {
  return {
    state: 'replaced',
    message: `${root} is not the folder that the watcher knows, and holds less than half of the documents known of it; documents that are gone from it are kept`,
  };
}

/** Evenly spread over the whole, whatever its order. One pass, bounded memory. */
function takeSample(known: Iterable<string>): string[] {
  let sample: string[] = [];
  let step = 1;
  let index = 0;
  for (const path of known) {
    if (index++ % step !== 0) continue;
    sample.push(path);
    if (sample.length === SAMPLE * 2) {
      sample = sample.filter((_, at) => at % 2 === 0);
      step *= 2;
    }
  }
  return sample;
}
