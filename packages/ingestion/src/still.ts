import { dirname } from 'node:path';
import type { FileStat } from '@sluice/core';
import type { IngestionDeps, SourceView } from './deps.js';
import { type DiskState, observeAgain, pathIn, sameDisk } from './observe.js';

/** Whole seconds are what FAT (two of them), HFS+, ext3 and some network shares keep. */
const SECOND_NS = 1_000_000_000n;
const COARSE_MS = 2_000;

/** Editors that save by unlink, or by renaming aside, and write again leave nothing at the path for less than this. */
const GONE_MS = 1_000;

/** A copy over a file empties it first, and may pause before it writes: an empty file is waited for longer than another. */
const EMPTIED_MS = 3_000;

/** A file that never is still for its time is read all the same after this: the check after the commit decides then. */
const LONGEST_WAIT_MS = 60_000;

export interface StillLook {
  /** The state that was known before: what has not changed since needs no second wait. */
  before?: DiskState | undefined;
  /** That nothing is there was waited for by whoever asked. */
  knownGone?: boolean;
  /** The document had a sidecar: none is taken for the truth only after a second either, since it may hold the level. */
  hadSidecar?: boolean;
  signal?: AbortSignal | undefined;
}

/** Looks at one path, for one job. */
export type LookWhenStill = (options: StillLook) => Promise<DiskState>;

/**
 * Looks at the disk as observeDisk does, and waits until what is there has been still: a file just written for the source's stability
 * time, and longer where its stamps are coarse; a path with nothing at it, or without the sidecar it had, for a second. So no half-written
 * file is read, nor one that is emptied to be written again, and no document is deleted whose file is being replaced. The watcher waits
 * too; this covers jobs that come another way, and what changes while a job runs. All looks together wait for a file for a minute at most.
 */
export function createLookWhenStill(
  deps: Pick<IngestionDeps, 'files' | 'policy' | 'clock'>,
  source: SourceView,
  sourcePath: string,
): LookWhenStill {
  let left = LONGEST_WAIT_MS;
  /** At one of the looks there was one. */
  let sawSidecar = false;

  return async ({ before, knownGone = false, hadSidecar = false, signal }) => {
    let known = before;
    let missed = knownGone || before?.kind === 'gone' ? 'file' : undefined;
    while (true) {
      const state = await observeAgain(deps, { source, sourcePath }, known);
      sawSidecar ||= state.kind === 'file' && state.sidecarStat !== '';
      const fileMs = left <= 0 || (known !== undefined && sameDisk(known, state)) ? 0 : fileWait(deps, source, state);
      // What is missing is looked for once more: others may come and go beside it for ever.
      const missing = missingOf(state, hadSidecar || sawSidecar);
      const goneMs = missing === undefined || missing === missed ? 0 : await goneWait(deps, source, sourcePath, missing);
      if (fileMs <= 0 && goneMs <= 0) return state;
      const began = deps.clock.monotonic();
      await deps.clock.sleep(Math.max(1, fileMs, goneMs), signal);
      if (fileMs > 0) left -= deps.clock.monotonic() - began;
      known = state;
      missed = missing;
    }
  };
}

type Missing = 'file' | 'sidecar';

function missingOf(state: DiskState, hadSidecar: boolean): Missing | undefined {
  if (state.kind === 'gone') return 'file';
  return hadSidecar && state.sidecarStat === '' ? 'sidecar' : undefined;
}

type Looks = Pick<IngestionDeps, 'files' | 'clock'>;

/** How long file and sidecar have to be waited for, ms. */
function fileWait({ clock }: Looks, source: SourceView, state: DiskState): number {
  if (state.kind === 'gone') return 0;
  const stats = [state.stat, ...(state.sidecar === undefined ? [] : [state.sidecar])];
  return Math.max(...stats.map((stat) => waitFor(clock.now(), stat, neededMs(stat, source.stabilityMs))));
}

/** How long a file has to be left alone before it is believed, ms. A source that waits for nothing (0) is believed at once. */
function neededMs(stat: FileStat, stabilityMs: number): number {
  if (stat.size === 0 && stabilityMs > 0) return Math.max(EMPTIED_MS, stabilityMs);
  return isCoarse(stat) ? Math.max(COARSE_MS, stabilityMs) : stabilityMs;
}

/**
 * How long what is missing has to be waited for, ms. A file that goes changes the folder it was in; where that went too the nearest one
 * above tells; without any the root is lost. Of a sidecar, which may hold the level, no folder is believed.
 */
async function goneWait({ files, clock }: Looks, source: SourceView, sourcePath: string, missing: Missing): Promise<number> {
  if (missing === 'sidecar') return GONE_MS;
  let folder = pathIn(source, sourcePath) ?? source.root;
  while (folder !== source.root) {
    folder = dirname(folder);
    const stat = await files.stat(folder).catch(() => undefined);
    if (stat !== undefined) return waitFor(clock.now(), stat, isCoarse(stat) ? COARSE_MS + GONE_MS : GONE_MS);
  }
  return 0;
}

/** A stamp in the future (another machine's clock) says nothing of the age: the whole time is waited for. */
function waitFor(now: number, stat: FileStat, neededMs: number): number {
  const age = now - newestStampMs(stat);
  return age < 0 ? neededMs : neededMs - age;
}

/** The later of a file's stamps, Unix milliseconds: not each file system sets ctime with every write. */
function newestStampMs({ mtimeNs, ctimeNs }: FileStat): number {
  const stamps = [mtimeNs, ctimeNs].map((ns) => Number(BigInt(ns) / 1_000_000n));
  return Math.max(...stamps);
}

/** Whether a stamp may stay as it is with a second write. */
function isCoarse({ mtimeNs, ctimeNs }: FileStat): boolean {
  return BigInt(mtimeNs) % SECOND_NS === 0n && BigInt(ctimeNs) % SECOND_NS === 0n;
}
