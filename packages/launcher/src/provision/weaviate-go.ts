import { mkdir, rename, rm, statfs } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { findProgram, lastLine, runCommand } from '../system/commands.js';
import { isExecutable } from '../system/files.js';
import { withLock } from '../system/locks.js';
import type { Workplace } from '../system/workplace.js';

const MODULE = 'github.com/weaviate/weaviate/cmd/weaviate-server';
const VERSION = '1.38.11';
/** Sources, build cache and linker of this build, measured on Debian 12 with 2 cores. */
const NEEDED_DISK_GB = 3;
const NEEDED_MEMORY_GB = 4;
const OLDEST_GO = [1, 21] as const;
const BUILD_MS = 45 * 60_000;

function binaryPath(workplace: Workplace): string {
  return join(workplace.cacheFolder, 'bin', `weaviate-${VERSION}-go`);
}

/** The binary of an earlier build, if there is one. */
export async function builtWeaviate(workplace: Workplace): Promise<string | undefined> {
  const path = binaryPath(workplace);
  return (await isExecutable(path)) ? path : undefined;
}

/** Builds Weaviate with the user's Go: minutes, once. Go checks the modules against its checksum database. */
export async function buildWeaviate(workplace: Workplace): Promise<string> {
  const built = await builtWeaviate(workplace);
  if (built !== undefined) return built;
  const go = await findProgram('go', workplace.env);
  if (go === undefined) throw new SluiceError('not_ready', 'Go is not installed');
  if (workplace.offline) throw new SluiceError('not_ready', 'SLUICE_OFFLINE=1 forbids fetching its sources');
  await checkGo(go, workplace);
  return withLock(
    join(workplace.cacheFolder, 'locks', 'weaviate-go'),
    async () => (await builtWeaviate(workplace)) ?? (await build(go, workplace)),
    {
      onWait: (holder) => workplace.say(`Weaviate: process ${holder.pid} is building it already; waiting`),
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    },
  );
}

async function checkGo(go: string, workplace: Workplace): Promise<void> {
  const version = await runCommand(go, ['env', 'GOVERSION', 'GOCACHE', 'GOMODCACHE'], { env: workplace.env, timeoutMs: 10_000 });
  const [name = '', goCache = '', goModules = ''] = version.stdout.split('\n');
  const [major = 0, minor = 0] = name.replace(/^go/, '').split('.').map(Number);
  if (major < OLDEST_GO[0] || (major === OLDEST_GO[0] && minor < OLDEST_GO[1])) {
    throw new SluiceError('not_ready', `Go ${OLDEST_GO.join('.')} or newer is needed, ${name || 'none'} was found`);
  }
  const memory = Math.max(freemem(), totalmem() * 0.8) / 2 ** 30;
  if (memory < NEEDED_MEMORY_GB) {
    throw new SluiceError('not_ready', `the build needs ${NEEDED_MEMORY_GB} GB of memory, this machine has ${memory.toFixed(1)}`);
  }
  for (const folder of [goCache, goModules]) {
    const free = await freeDiskGb(folder);
    if (free < NEEDED_DISK_GB) {
      throw new SluiceError(
        'not_ready',
        `the build needs ${NEEDED_DISK_GB} GB of disk, ${free.toFixed(1)} are free at ${folder}`,
      );
    }
  }
}

/** Free space of the disk that holds the folder, or would hold it once it is made. */
async function freeDiskGb(folder: string): Promise<number> {
  for (let path = folder; ; path = dirname(path)) {
    const found = await statfs(path === '' ? '/' : path).catch(() => undefined);
    if (found !== undefined) return (found.bavail * found.bsize) / 2 ** 30;
    if (path === '/' || path === '' || path === '.') return Number.POSITIVE_INFINITY;
  }
}

async function build(go: string, workplace: Workplace): Promise<string> {
  workplace.say(`Weaviate: building ${VERSION} with Go; this takes 3 to 5 minutes on 2 cores, once`);
  const target = binaryPath(workplace);
  const bin = join(workplace.cacheFolder, 'bin', `go-${process.pid}`);
  await mkdir(bin, { recursive: true });
  try {
    const result = await runCommand(go, ['install', `${MODULE}@v${VERSION}`], {
      env: { ...workplace.env, GOBIN: bin },
      // Outside any Go module of the user's, whose settings would apply.
      cwd: bin,
      timeoutMs: BUILD_MS,
      progress: { everyMs: 15_000, tell: (seconds) => workplace.say(`Weaviate: still building (${formatSeconds(seconds)})`) },
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    });
    if (result.code !== 0) throw new SluiceError('not_ready', `go install failed (${lastLine(result)})`);
    await rename(join(bin, 'weaviate-server'), target);
    return target;
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
}

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
