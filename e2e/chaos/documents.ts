import { createHash } from 'node:crypto';
import { versioned } from '../support/readers.js';

/** A document of the workload whose answers tell their version. */
export interface Tracked {
  readonly name: string;
  /** Relative to the watched folder. */
  path: string;
  /** Newest version written. */
  version: number;
  /** What is on disk now. */
  hash: string;
  /** Versions by the sha256 of their file; without those that are made not to be readable. */
  readonly versions: Map<string, number>;
  /** Newest version that the API was seen to tell as committed. */
  committed: number;
  /** Written, and the commit not seen yet. */
  replacing: boolean;
}

/** A document whose level rises and falls. It changes only once the change before was seen to be committed. */
export interface Secret extends Tracked {
  level: 1 | 3;
  /** Grows with each change of level. */
  epoch: number;
  /** The commit that raised it was seen. */
  hidden: boolean;
  /** The commit that lowered it was seen. */
  visible: boolean;
  /** True where the sidecar says the level, else the front matter does. */
  readonly bySidecar: boolean;
}

/** A path at which a document was until it was deleted or moved. */
export interface Vanished {
  readonly path: string;
  /** The API was seen to tell that nothing is there. */
  known: boolean;
  /** Something is there again. */
  back: boolean;
}

export function createTracked(name: string, path: string): Tracked {
  return { name, path, version: -1, hash: '', versions: new Map(), committed: -1, replacing: false };
}

export function createSecret(name: string, path: string, bySidecar: boolean): Secret {
  return { ...createTracked(name, path), level: 1, epoch: 0, hidden: false, visible: false, bySidecar };
}

/** Metadata that no date can be read from: the file fails, its last good revision stays. */
export const UNREADABLE = 'created_at: no day at all';

/** The next version's text; `matter` are lines of front matter. */
export function nextVersion(document: Tracked, matter: readonly string[] = []): string {
  document.version += 1;
  const text = versioned(document.name, document.version);
  return matter.length === 0 ? text : `---\n${matter.join('\n')}\n---\n\n${text}`;
}

/** Notes what is about to be written, before it is. */
export function noteWrite(document: Tracked, text: string): void {
  document.hash = sha256(text);
  if (!text.includes(UNREADABLE)) document.versions.set(document.hash, document.version);
  document.replacing = true;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
