import { lstat, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { findProgram, lastLine, runCommand } from '../system/commands.js';
import { withLock } from '../system/locks.js';
import type { Environment, Workplace } from '../system/workplace.js';

export interface RedisProgram {
  program: string;
  env: Record<string, string>;
}

/** redis-check-rdb is the server under another name: called as `redis-server` it serves. */
const PACKAGES = ['redis-tools', 'libjemalloc2', 'liblzf1'];
const FETCH = ['-o', 'Acquire::http::Timeout=5', '-o', 'Acquire::https::Timeout=5', '-o', 'Acquire::Retries=1'];

/** The Redis that an earlier start has unpacked into the cache, when it runs. */
export async function cachedRedis(workplace: Workplace): Promise<RedisProgram | undefined> {
  return usable(join(workplace.cacheFolder, 'redis'), workplace.env);
}

/**
 * Redis from the system's packages, unpacked into the cache: no root, no daemon. On Debian and Ubuntu by apt-get download and
 * dpkg -x (apt checks the packages against the signed lists); elsewhere by a package manager that asks nothing.
 */
export async function installRedisPackage(workplace: Workplace): Promise<RedisProgram> {
  const folder = join(workplace.cacheFolder, 'redis');
  const cached = await usable(folder, workplace.env);
  if (cached !== undefined) return cached;
  if (workplace.offline) throw new SluiceError('not_ready', 'no Redis was installed into the cache yet');
  return withLock(
    join(workplace.cacheFolder, 'locks', 'redis'),
    async () => {
      const other = await usable(folder, workplace.env);
      if (other !== undefined) return other;
      const apt =
        (await findProgram('apt-get', workplace.env)) !== undefined && (await findProgram('dpkg', workplace.env)) !== undefined;
      if (!apt) return installByManager(workplace);
      await unpackDebian(folder, workplace);
      const unpacked = await usable(folder, workplace.env);
      if (unpacked === undefined) throw new SluiceError('not_ready', `the unpacked redis-server in ${folder} does not run`);
      return unpacked;
    },
    {
      onWait: (holder) => workplace.say(`Redis: process ${holder.pid} is installing it already; waiting`),
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    },
  );
}

async function unpackDebian(folder: string, workplace: Workplace): Promise<void> {
  workplace.say('Redis: fetching its Debian packages (1.3 MB) into the cache');
  await mkdir(workplace.cacheFolder, { recursive: true });
  const work = await mkdtemp(join(workplace.cacheFolder, 'redis-'));
  const options = {
    env: workplace.env,
    cwd: work,
    timeoutMs: 120_000,
    ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
  };
  try {
    let lists: string[] = [];
    let fetched = await runCommand('apt-get', [...FETCH, 'download', ...PACKAGES], options);
    if (fetched.code !== 0 && /unable to locate|no candidate|can't select/i.test(fetched.stderr)) {
      // The system's package lists are empty or too old (fresh images have none): lists of our own need no root.
      lists = await ownLists(join(workplace.cacheFolder, 'apt'));
      const updated = await runCommand('apt-get', [...FETCH, ...lists, 'update'], options);
      if (updated.code !== 0) throw new SluiceError('not_ready', `apt-get update failed (${lastLine(updated)})`);
      fetched = await runCommand('apt-get', [...FETCH, ...lists, 'download', ...PACKAGES], options);
    }
    if (fetched.code !== 0) throw new SluiceError('not_ready', `apt-get download failed (${lastLine(fetched)})`);
    await unpackAll(work, join(work, 'root'), workplace.env);
    const root = join(work, 'root');
    if ((await usable(root, workplace.env)) === undefined) {
      // Older releases link Redis to further libraries: fetch what the package names as its dependencies.
      const named = await runCommand('apt-cache', [...lists, 'depends', '--important', 'redis-tools'], options);
      const further = [...named.stdout.matchAll(/Depends: (lib[a-z0-9.+-]+|lua-[a-z0-9.+-]+)/g)].map((match) => match[1] ?? '');
      const wanted = further.filter((name) => !PACKAGES.includes(name) && name !== 'libc6');
      const more = await runCommand('apt-get', [...FETCH, ...lists, 'download', ...wanted], options);
      if (more.code === 0) await unpackAll(work, root, workplace.env);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(root, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function ownLists(folder: string): Promise<string[]> {
  await mkdir(join(folder, 'lists', 'partial'), { recursive: true });
  await mkdir(join(folder, 'cache', 'archives', 'partial'), { recursive: true });
  return ['-o', `Dir::State::lists=${join(folder, 'lists')}`, '-o', `Dir::Cache=${join(folder, 'cache')}`];
}

async function unpackAll(folder: string, root: string, env: Environment): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.deb')) continue;
    const result = await runCommand('dpkg', ['-x', join(folder, name), root], { env, timeoutMs: 60_000 });
    if (result.code !== 0) throw new SluiceError('not_ready', `dpkg could not unpack ${name} (${lastLine(result)})`);
  }
  const bin = join(root, 'usr', 'bin');
  const linked = await lstat(join(bin, 'redis-server')).then(
    () => true,
    () => false,
  );
  if (!linked) await symlink('redis-check-rdb', join(bin, 'redis-server'));
}

/** Folders of the unpacked tree that hold shared libraries. */
async function libraryFolders(root: string): Promise<string[]> {
  const base = join(root, 'usr', 'lib');
  const names = await readdir(base).catch(() => []);
  return [base, ...names.filter((name) => name.includes('-linux-')).map((name) => join(base, name))];
}

async function usable(root: string, env: Environment): Promise<RedisProgram | undefined> {
  const program = join(root, 'usr', 'bin', 'redis-server');
  const own = { LD_LIBRARY_PATH: (await libraryFolders(root)).join(':') };
  const result = await runCommand(program, ['--version'], { env: { ...env, ...own }, timeoutMs: 10_000 });
  return result.code === 0 && /server v=/i.test(result.stdout) ? { program, env: own } : undefined;
}

/** Package managers that install without a question: Homebrew for any user, the others for root only. */
async function installByManager(workplace: Workplace): Promise<RedisProgram> {
  const asRoot = process.getuid?.() === 0;
  const managers: { name: string; args: string[]; needsRoot: boolean }[] = [
    { name: 'brew', args: ['install', 'redis'], needsRoot: false },
    { name: 'dnf', args: ['install', '-y', 'redis'], needsRoot: true },
    { name: 'zypper', args: ['--non-interactive', 'install', 'redis'], needsRoot: true },
    { name: 'pacman', args: ['-S', '--noconfirm', 'valkey'], needsRoot: true },
    { name: 'apk', args: ['add', 'redis'], needsRoot: true },
  ];
  for (const manager of managers) {
    if ((await findProgram(manager.name, workplace.env)) === undefined) continue;
    if (manager.needsRoot && !asRoot) throw new SluiceError('not_ready', `${manager.name} needs root to install Redis`);
    workplace.say(`Redis: ${manager.name} ${manager.args.join(' ')}`);
    const result = await runCommand(manager.name, manager.args, {
      env: { ...workplace.env, HOMEBREW_NO_AUTO_UPDATE: '1' },
      timeoutMs: 10 * 60_000,
      progress: { everyMs: 15_000, tell: (seconds) => workplace.say(`Redis: still installing (${seconds} s)`) },
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    });
    if (result.code !== 0) throw new SluiceError('not_ready', `${manager.name} failed (${lastLine(result)})`);
    for (const name of ['redis-server', 'valkey-server']) {
      const program = await findProgram(name, workplace.env);
      if (program !== undefined) return { program, env: {} };
    }
  }
  throw new SluiceError(
    'not_ready',
    'no package manager that this program knows (apt-get with dpkg, brew, dnf, zypper, pacman, apk)',
  );
}
