import { dirname } from 'node:path';
import type { FileStat } from '@sluice/core';
import type { IngestionDeps, SourceView } from './deps.js';
import { type DiskState, observeDisk, pathIn, sameDisk } from './observe.js';

/** Whole seconds are what FAT (two of them), HFS+, ext3 and some network shares keep. */
const SECOND_NS = 1_000_000_000n;
const COARSE_MS = 2_000;

/** Editors that save by unlink, or by renaming aside, and write anew leave nothing at the path for less than this. */
const GONE_MS = 1_000;

/** A file that never is still for its time is read all the same after this: the check after the commit decides then. */
const LONGEST_WAIT_MS = 60_000;

export interface StillLook {
  /** The state that was known before: what has not changed since needs no second wait. */
  before?: DiskState | undefined;
  /** That nothing is there was waited for by whoever asked. */
  knownGone?: boolean;
  signal?: AbortSignal | undefined;
}

/** Looks at one path, for one job. */
export type LookWhenStill = (options: StillLook) => Promise<DiskState>;

/**
 * Looks at the disk as observeDisk does, and waits until what is there has been still: a file just written for the source's stability
 * time, and longer where its stamps are coarse; a path with nothing at it for a second. So no half-written file is read, nor one that is
 * emptied to be written anew, and no document is deleted whose file is being replaced. The watcher waits too; this covers jobs that come
 * another way, and what changes while a job runs. All looks together wait for a minute at most.
 */
export function createLookWhenStill(
  deps: Pick<IngestionDeps, 'files' | 'policy' | 'clock'>,
  source: SourceView,
  sourcePath: string,
): LookWhenStill {
  let left = LONGEST_WAIT_MS;

  async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const began = deps.clock.monotonic();
    await deps.clock.sleep(Math.max(1, ms), signal);
    left -= deps.clock.monotonic() - began;
  }

  return async ({ before, knownGone = false, signal }) => {
    let known = before;
    let isGone = knownGone;
    while (true) {
      const state = await observeDisk(deps, source, sourcePath);
      if ((known !== undefined && sameDisk(known, state)) || (isGone && state.kind === 'gone') || left <= 0) return state;
      const { age, needed } = state.kind === 'file' ? fileAge(deps, source, state) : await goneAge(deps, source, sourcePath);
      if (age >= needed) return state;
      // A stamp in the future (another machine's clock) says nothing of the age: wait the whole time once and compare.
      known = age < 0 ? state : undefined;
      // It is looked at once more; others may come and go beside it for ever.
      isGone = state.kind === 'gone';
      await wait(age < 0 ? needed : needed - age, signal);
    }
  };
}

interface Age {
  age: number;
  needed: number;
}

/** Of file and sidecar the one that has to be waited for longer. */
function fileAge(
  { clock }: Pick<IngestionDeps, 'clock'>,
  source: SourceView,
  { stat, sidecar }: Extract<DiskState, { kind: 'file' }>,
): Age {
  const now = clock.now();
  const ages = [stat, ...(sidecar === undefined ? [] : [sidecar])].map((one) => ({
    age: now - newestStampMs(one),
    needed: stillMs(source, one),
  }));
  return ages.reduce((a, b) => (b.needed - b.age > a.needed - a.age ? b : a));
}

/** A file that goes changes the folder it was in. Where that went too the nearest one above tells; without any the root is lost. */
async function goneAge({ files, clock }: Pick<IngestionDeps, 'files' | 'clock'>, source: SourceView, sourcePath: string): Promise<Age> {
  const settled = { age: GONE_MS, needed: GONE_MS };
  let folder = pathIn(source, sourcePath);
  if (folder === undefined) return settled;
  while (folder !== source.root) {
    folder = dirname(folder);
    const stat = await files.stat(folder).catch(() => undefined);
    if (stat !== undefined) return { age: clock.now() - newestStampMs(stat), needed: GONE_MS };
  }
  return settled;
}

/** The later of a file's stamps, Unix milliseconds: not each file system sets ctime with every write. */
function newestStampMs({ mtimeNs, ctimeNs }: FileStat): number {
  const stamps = [mtimeNs, ctimeNs].map((ns) => Number(BigInt(ns) / 1_000_000n));
  return Math.max(...stamps);
}

/** How long a file must have been still before it is read: at least as long as a second write might leave its stamp as it is. */
function stillMs(source: SourceView, { mtimeNs, ctimeNs }: FileStat): number {
  const isCoarse = BigInt(mtimeNs) % SECOND_NS === 0n && BigInt(ctimeNs) % SECOND_NS === 0n;
  return isCoarse ? Math.max(COARSE_MS, source.stabilityMs) : source.stabilityMs;
}
