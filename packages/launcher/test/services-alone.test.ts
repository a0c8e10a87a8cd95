import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWorkplace, reclaimFolders, startServicesAlone } from '../src/index.js';
import { isRunning, processRef } from '../src/system/processes.js';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-alone-'));
});
afterEach(() => rm(parent, { recursive: true, force: true, maxRetries: 5 }));

it('services of a killed test run are ended by the next one, those of a running one are left alone', async () => {
  const dataFolder = join(parent, 'run-1');
  const workplace = createWorkplace({ ...process.env, REDIS_URL: '', WEAVIATE_URL: '' }, () => undefined);
  const services = await startServicesAlone({ dataFolder, workplace });
  const processes = [services.redis.process, services.weaviate.process].filter((ref) => ref !== undefined);
  expect(processes).toHaveLength(2);
  await reclaimFolders(parent, 'run-', process.env);
  expect(processes.every(isRunning)).toBe(true);

  // The run file of a process that has ended.
  const ended = spawn(process.execPath, ['-e', '0']);
  await once(ended, 'exit');
  const path = join(dataFolder, 'run.json');
  const runFile = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const ofEnded = { ...runFile, processes: [{ role: 'supervisor', pid: ended.pid, restarts: 0 }] };
  await writeFile(path, JSON.stringify(ofEnded));
  // An instance that one of its tests has left.
  const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  await once(left, 'spawn');
  const leftRef = processRef(left.pid ?? 0);
  await mkdir(join(dataFolder, 'tmp', 'test-1', 'data'), { recursive: true });
  await writeFile(
    join(dataFolder, 'tmp', 'test-1', 'data', 'run.json'),
    JSON.stringify({ ...ofEnded, services: {}, processes: [...ofEnded.processes, { role: 'worker', ...leftRef, restarts: 0 }] }),
  );
  await reclaimFolders(parent, 'run-', process.env);
  expect(processes.some(isRunning)).toBe(false);
  expect(leftRef !== undefined && isRunning(leftRef)).toBe(false);
  await expect(access(dataFolder)).rejects.toThrow();
  await services.stop();
});
