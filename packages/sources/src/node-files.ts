import { createHash } from 'node:crypto';
import { type BigIntStats, constants, createReadStream, lstat as lstatBy, lstatSync } from 'node:fs';
import { lstat, open, readdir, readFile, realpath, statfs } from 'node:fs/promises';
import { type Files, type FolderEntry, isAbsence } from '@sluice/core';

/** Up to this size one read is quicker than a stream. */
const READ_WHOLE_BYTES = 1024 * 1024;

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: Typed): FolderEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

/** Node's code of an error, as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True for errors that say that the system has no file watches left. */
export function lacksWatches(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EMFILE';
}

/** As lstat() of node:fs/promises, which takes a third longer, and twice as long where nothing is: most documents have no sidecar. */
function lstatOf(path: string): Promise<BigIntStats> {
  return new Promise((resolve, reject) => {
    lstatBy(path, { bigint: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
}

/** Linux' numbers of ext2 to ext4, XFS, Btrfs, F2FS, ZFS, tmpfs and overlayfs. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630,
]);

/** Whether a file system is one of this machine, which never hangs for want of a network. */
async function isLocal(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return statfs(path).then(
    ({ type }) => LOCAL_TYPES.has(type),
    () => false,
  );
}

/** What the kernel has in memory takes microseconds; to wake a thread for it, and to be woken, takes twenty times as long. */
function lstatNow(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** The file system of this machine as the Files port. Follows no link; errors keep Node's `code`. */
export function createNodeFiles(): Files {
  /** By device, once it was asked. */
  const local = new Map<string, boolean>();
  return {
    async stat(path, known) {
      try {
        const found = known !== undefined && local.get(known.device ?? '') ? lstatNow(path) : await lstatOf(path);
        if (found === undefined) return undefined;
        const device = String(found.dev);
        if (known !== undefined && !local.has(device)) local.set(device, await isLocal(path));
        return {
          kind: kindOf(found),
          size: Number(found.size),
          mtimeNs: String(found.mtimeNs),
          ctimeNs: String(found.ctimeNs),
          inode: String(found.ino),
          device,
          birthNs: String(found.birthtimeNs),
        };
      } catch (error) {
        if (isAbsence(error)) return undefined;
        throw error;
      }
    },
    async list(path) {
      const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
      return entries.map((entry) => {
        const name = entry.name.toString('utf8');
        // Decoding puts U+FFFD where bytes are no UTF-8, so the way back gives other bytes.
        return { name, kind: kindOf(entry), validName: Buffer.from(name, 'utf8').equals(entry.name) };
      });
    },
    async readHead(path, length, found) {
      // Opened once, so that what was compared is what is read.
      const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
      try {
        const { ino, dev, size } = await file.stat({ bigint: true });
        if (found !== undefined && (String(ino) !== found.inode || String(dev) !== (found.device ?? String(dev)))) {
          throw Object.assign(new Error(`ESTALE: another file has taken the place of ${path}`), { code: 'ESTALE' });
        }
        // A byte more than there are, so that one read finds the end.
        const buffer = Buffer.allocUnsafe(size > 0n && size < length ? Number(size) + 1 : length);
        let filled = 0;
        while (filled < buffer.length) {
          const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return buffer.subarray(0, filled);
      } finally {
        await file.close();
      }
    },
    async hash(path, length = Number.POSITIVE_INFINITY) {
      const hash = createHash('sha256');
      const { size } = await lstat(path);
      if (size <= READ_WHOLE_BYTES) return hash.update((await readFile(path)).subarray(0, length)).digest('hex');
      let left = length;
      for await (const part of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
        hash.update(part.subarray(0, left));
        left -= part.length;
        if (left <= 0) break;
      }
      return hash.digest('hex');
    },
    realpath: (path) => realpath(path),
  };
}
