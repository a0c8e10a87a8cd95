import { type FileStat, statKey } from '../files.js';

export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** False when the name is not valid UTF-8: such a file is `failed: invalid_path`. `name` then holds replacement marks. */
  validName: boolean;
}

/** Which file it is, whatever it holds. */
export interface FileIdentity {
  inode: string;
  /** Where the system knows it. */
  device?: string;
}

/** A stat with the kind of entry, and what tells a folder from one that took its place: device and birth, where the system knows them. */
export interface EntryStat extends FileStat {
  kind: FolderEntry['kind'];
  device?: string;
  /** Nanoseconds since 1970 at which the entry was made; `0` where the file system keeps no such time. */
  birthNs?: string;
}

/**
 * A text for what stands beside a document where its sidecar would, as commits store it: '' for nothing, the stat of a file. Of a link, a
 * folder or the like, which no metadata is read from, the kind. What stands under another than the first name has that name's place before it.
 *
 * @param stats one for each name that a sidecar may have, in that order
 */
export function sidecarKey(stats: readonly (EntryStat | undefined)[]): string {
  return stats
    .flatMap((stat, place) => {
      if (stat === undefined) return [];
      const key = stat.kind === 'file' ? statKey(stat) : stat.kind;
      return [place === 0 ? key : `${place}=${key}`];
    })
    .join(' ');
}

/** The file system as a port, so that faults (EACCES, ESTALE, EIO) can be injected. Errors keep Node's `code`. */
export interface Files {
  /**
   * Follows no link at the end. Undefined when nothing is there (ENOENT, ENOTDIR).
   *
   * @param known what stat() said a moment ago of this path, or of one beside it. On a disk of this machine the answer is then in memory,
   * and is taken without a thread
   */
  stat(path: string, known?: FileIdentity): Promise<EntryStat | undefined>;
  list(path: string): Promise<FolderEntry[]>;
  /**
   * First bytes of a file, at most `length`. Follows no link at the end.
   *
   * @param found what stat() said of the path. Another file in its place is an error with the code ESTALE
   */
  readHead(path: string, length: number, found?: FileIdentity): Promise<Uint8Array>;
  /** sha256 in hex of a file's content, or of its first `length` bytes; read as a stream. */
  hash(path: string, length?: number): Promise<string>;
  realpath(path: string): Promise<string>;
}
