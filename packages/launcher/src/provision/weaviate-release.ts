import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { unzipSync } from 'fflate';
import { lastLine, runCommand } from '../system/commands.js';
import { downloadFile, downloadText } from '../system/download.js';
import { isExecutable } from '../system/files.js';
import { withLock } from '../system/locks.js';
import type { Workplace } from '../system/workplace.js';

const VERSION = '1.38.11';
const RELEASES = `https://github.com/weaviate/weaviate/releases/download/v${VERSION}`;

function binaryPath(workplace: Workplace): string {
  return join(workplace.cacheFolder, 'bin', `weaviate-${VERSION}-release`);
}

/** The binary of an earlier download, if there is one. */
export async function downloadedWeaviate(workplace: Workplace): Promise<string | undefined> {
  const path = binaryPath(workplace);
  return (await isExecutable(path)) ? path : undefined;
}

/** Name of the release's archive for a platform; undefined where none is published. */
export function releaseArchive(platform: NodeJS.Platform, arch: string): string | undefined {
  if (platform === 'darwin') return `weaviate-v${VERSION}-darwin-all.zip`;
  const name = { x64: 'amd64', arm64: 'arm64' }[arch];
  return platform === 'linux' && name !== undefined ? `weaviate-v${VERSION}-linux-${name}.tar.gz` : undefined;
}

/** The sha256 of an archive in a checksum file: either the bare sum, or lines of sum and name. */
export function checksumOf(archive: string, text: string): string | undefined {
  for (const line of text.split('\n')) {
    const [sum, name] = line.trim().split(/\s+\*?/);
    if (sum !== undefined && /^[0-9a-f]{64}$/i.test(sum) && (name === undefined || name === archive)) return sum.toLowerCase();
  }
  return undefined;
}

/**
 * Downloads the release binary and checks it against the checksum published beside it.
 *
 * @param releases where archives and checksums lie; default the project's own releases
 */
export async function downloadWeaviate(workplace: Workplace, releases = RELEASES): Promise<string> {
  const cached = await downloadedWeaviate(workplace);
  if (cached !== undefined) return cached;
  const archive = releaseArchive(process.platform, process.arch);
  if (archive === undefined) {
    throw new SluiceError('not_ready', `no release binary is published for ${process.platform} on ${process.arch}`);
  }
  if (workplace.offline) throw new SluiceError('not_ready', 'SLUICE_OFFLINE=1 forbids downloading the release binary');
  return withLock(
    join(workplace.cacheFolder, 'locks', 'weaviate-release'),
    async () => (await downloadedWeaviate(workplace)) ?? (await fetchRelease(archive, releases, workplace)),
    {
      onWait: (holder) => workplace.say(`Weaviate: process ${holder.pid} is downloading it already; waiting`),
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    },
  );
}

async function fetchRelease(archive: string, releases: string, workplace: Workplace): Promise<string> {
  const sha256 = await publishedChecksum(archive, releases, workplace);
  await mkdir(workplace.cacheFolder, { recursive: true });
  const work = await mkdtemp(join(workplace.cacheFolder, 'weaviate-'));
  try {
    const file = join(work, archive);
    await downloadFile(`${releases}/${archive}`, file, { workplace, sha256, label: 'Weaviate' });
    if (archive.endsWith('.zip')) {
      const entries = unzipSync(await readFile(file), { filter: (entry) => entry.name === 'weaviate' });
      if (entries.weaviate === undefined) throw new SluiceError('not_ready', `${archive} holds no weaviate binary`);
      await writeFile(join(work, 'weaviate'), entries.weaviate);
    } else {
      const result = await runCommand('tar', ['-xzf', file, '-C', work, 'weaviate'], { env: workplace.env, timeoutMs: 120_000 });
      if (result.code !== 0) throw new SluiceError('not_ready', `tar could not unpack ${archive} (${lastLine(result)})`);
    }
    const target = binaryPath(workplace);
    await mkdir(join(workplace.cacheFolder, 'bin'), { recursive: true });
    await chmod(join(work, 'weaviate'), 0o755);
    await rename(join(work, 'weaviate'), target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Releases publish `<archive>.sha256` or one list of all checksums. Without either the archive is not used. */
async function publishedChecksum(archive: string, releases: string, workplace: Workplace): Promise<string> {
  let failure: unknown;
  for (const name of [`${archive}.sha256`, `weaviate-v${VERSION}-checksums.txt`]) {
    try {
      const sum = checksumOf(archive, await downloadText(`${releases}/${name}`, workplace));
      if (sum !== undefined) return sum;
    } catch (error) {
      failure = error;
      // An address that can't be reached at all stays so for the second name: don't wait twice.
      if (!(error instanceof SluiceError) || !/ answered 404 /.test(error.message)) break;
    }
  }
  if (failure instanceof SluiceError) throw failure;
  throw new SluiceError('not_ready', `no sha256 is published for ${archive}`);
}
