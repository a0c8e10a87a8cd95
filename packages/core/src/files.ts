/** What identifies a state of a file without reading it. Times are in nanoseconds since 1970 as decimal text (they pass 2^53). */
export interface FileStat {
  size: number;
  mtimeNs: string;
  ctimeNs: string;
  inode: string;
}

export function sameStat(a: FileStat | undefined, b: FileStat | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.inode === b.inode;
}

/** One text for a stat, as commits store it: `size:mtime:ctime:inode`. */
export function statKey(stat: FileStat): string {
  return `${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.inode}`;
}
