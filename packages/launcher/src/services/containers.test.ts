import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace } from '../system/workplace.js';
import { containerName, findEngine } from './containers.js';
import { obtainRedis } from './redis.js';
import { obtainWeaviate } from './weaviate.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-engine-'));
  await mkdir(join(folder, 'bin'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An engine of the test's own that writes down what it is asked. */
async function fakeEngine(name: string, script: string): Promise<void> {
  const lines = ['#!/bin/sh', `printf '%s\\n' "$*" >> '${join(folder, 'calls')}'`, script];
  await writeFile(join(folder, 'bin', name), lines.join('\n'), { mode: 0o755 });
}

const environment = () => ({ PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: join(folder, 'cache') });

describe('findEngine', () => {
  it('takes the engine that answers, not the first command', async () => {
    await fakeEngine('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    await fakeEngine('podman', 'exit 0');
    expect(await findEngine(environment())).toBe('podman');
  });

  it('says what a command without an engine said', async () => {
    await fakeEngine('docker', 'echo "Cannot connect to the Docker daemon" >&2; exit 1');
    await expect(findEngine({ PATH: join(folder, 'bin') })).rejects.toThrow(
      'no container engine answers (docker: Cannot connect to the Docker daemon)',
    );
  });
});

describe('a service in a container', () => {
  it.each([
    ['redis', obtainRedis, 'SLUICE_REDIS', 'redis:7.4-bookworm'],
    ['weaviate', obtainWeaviate, 'SLUICE_WEAVIATE', 'semitechnologies/weaviate:1.38.11'],
  ] as const)('%s listens on loopback and keeps its data in a named volume', async (service, obtain, variable, image) => {
    await fakeEngine('docker', 'case "$1" in run) echo "no space left" >&2; exit 125;; esac');
    const workplace = createWorkplace({ ...environment(), [variable]: 'container' }, () => undefined);
    await expect(obtain(workplace, { dataFolder: join(folder, 'data') })).rejects.toThrow(
      'docker could not run the container (no space left)',
    );
    const run = (await readFile(join(folder, 'calls'), 'utf8')).split('\n').find((line) => line.startsWith('run ')) ?? '';
    const name = containerName(service, join(folder, 'data'));
    expect(run).toContain(`--name ${name} `);
    expect(run).toContain(`--volume ${name}:`);
    expect(run).toContain(` ${image} `);
    const published = [...run.matchAll(/--publish (\S+)/g)].map((match) => match[1] ?? '');
    expect(published.length).toBeGreaterThan(0);
    expect(published.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
  });
});
