import { statfs } from 'node:fs/promises';

/**
 * Types of Linux file systems (statfs(2), include/uapi/linux/magic.h) that may change without the kernel here knowing: a change made
 * on another machine, or outside of a virtual one, sends no event.
 */
const SILENT: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x01021997, // 9p: shares of virtual machines, /mnt of WSL2
  0x65735546, // FUSE: sshfs, shares of container desktops
  0x786f4256, // VirtualBox shared folders
  0x7c7c6673, // Parallels shared folders
  0x5346414f, // AFS
  0x00c36400, // Ceph
  0x0bd00bd0, // Lustre
  0x01161970, // GFS2
  0x7461636f, // OCFS2
]);

/** Whether a folder must be polled, by the type of its file system. Elsewhere than on Linux the types say nothing: false. */
export async function needsPolling(root: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const { type } = await statfs(root);
  return SILENT.has(type >>> 0);
}
