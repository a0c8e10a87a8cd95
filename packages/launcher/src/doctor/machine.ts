import { readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isPortFree } from '../system/ports.js';
import { type Check, ok, problem, warning } from './check.js';

/** Versions that all dependencies run on. The start scripts hold the same rule, since they run before this can be loaded. */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
  if (supported) return ok('node', `Node ${version}`);
  return problem('node', `Node ${version}: 20.19, 22.12 or 24 and newer are needed`, 'install Node 24 from https://nodejs.org');
}

/** The API's port: free, or in use by the instance itself. */
export async function checkPort(port: number, isSet: boolean, runningApi: string | undefined): Promise<Check> {
  if (runningApi !== undefined) return ok('port', `the API listens on ${runningApi}`);
  if (port === 0 || (await isPortFree(port))) return ok('port', `port ${port} is free`);
  if (!isSet)
    return warning(
      'port',
      `port ${port} is taken by another program; the next free one will be used`,
      'SLUICE_PORT=4190 npm start',
    );
  return problem('port', `port ${port}, which is set, is taken by another program`, 'SLUICE_PORT=4190 npm start');
}

/** At this share of used space Weaviate, as it is started here, turns read-only. */
const READ_ONLY_SHARE = 0.98;
const WARNING_SHARE = 0.93;
const NEEDED_GB = 1;

/** Space for Weaviate and the logs. The folder need not exist yet. */
export async function checkDisk(folder: string): Promise<Check> {
  for (let path = folder; ; path = dirname(path)) {
    const disk = await statfs(path).catch(() => undefined);
    if (disk === undefined && path !== dirname(path)) continue;
    if (disk === undefined) return problem('disk', `the disk of ${folder} can't be looked at`, `ls -ld ${folder}`);
    const free = (disk.bavail * disk.bsize) / 2 ** 30;
    const used = 1 - disk.bavail / disk.blocks;
    const detail = `${free.toFixed(1)} GB free, ${(used * 100).toFixed(0)} % used on the disk of ${folder}`;
    const fix = `free some space, or choose another disk: SLUICE_DATA=/another/folder npm start`;
    if (used >= READ_ONLY_SHARE)
      return problem('disk', `${detail}: Weaviate takes no writes above ${READ_ONLY_SHARE * 100} %`, fix);
    if (free < NEEDED_GB || used >= WARNING_SHARE) return warning('disk', detail, fix);
    return ok('disk', detail);
  }
}

/** Room that other programs (editors, build tools) need beside ours. */
const SPARE_WATCHES = 1_000;

/** The system's limit on watched folders, of Linux alone. */
export async function checkWatches(folders: number, limitFile = '/proc/sys/fs/inotify/max_user_watches'): Promise<Check> {
  const text = await readFile(limitFile, 'utf8').catch(() => undefined);
  if (text === undefined) return ok('watches', 'this system has no limit on watched folders');
  const limit = Number(text);
  const detail = `${folders} folders to watch, the system allows ${limit}`;
  if (folders + SPARE_WATCHES <= limit) return ok('watches', detail);
  const wanted = Math.max(524_288, 2 ** Math.ceil(Math.log2((folders + SPARE_WATCHES) * 2)));
  return problem('watches', detail, `sudo sysctl fs.inotify.max_user_watches=${wanted}    (or polling: true for a source)`);
}
