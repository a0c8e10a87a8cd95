import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStubApi } from './stub-api.js';

const bin = fileURLToPath(new URL('../bin/sluice.js', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-bin-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The command as users run it: the committed shim over the built program, in a folder where nothing runs. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...env } });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (data: Buffer) => {
    text.stdout += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    text.stderr += data.toString();
  });
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...text }));
  });
  return { child, ended };
}

describe('npx sluice', () => {
  it('prints its version', async () => {
    expect(await start(['--version']).ended).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
  });

  it.each(['status', 'mcp'])('%s says in a line that nothing runs, exit 3', async (command) => {
    const { code, stdout, stderr } = await start([command]).ended;
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('keeps stdout clean for machines', async () => {
    const { code, stdout } = await start(['search', 'x', '--json'], { SLUICE_URL: 'http://127.0.0.1:9' }).ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'not_ready' } });
  });

  it('writes a long answer whole into a pipe', async () => {
    const documents = Array.from({ length: 3000 }, (_, n) => ({
      doc_id: `inbox/${'x'.repeat(200)}${n}`,
      chunks: 0,
      status: 'indexed',
    }));
    const api = await createStubApi(() => ({ body: { documents } }));
    const { code, stdout } = await start(['documents', '--json'], { SLUICE_URL: api.url }).ended;
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { documents: unknown[] }).documents).toHaveLength(3000);
    await api.close();
  });

  it('ends with 130 on Ctrl-C, whatever it waits for', async () => {
    let running: ReturnType<typeof start> | undefined;
    const api = await createStubApi(({ path }) => {
      if (path === '/ops/api/status') running?.child.kill('SIGINT');
      return { body: { scans: [{ source: 'inbox', request: 1 }], sources: [], queues: {}, state: 'working', documents: [] } };
    });
    running = start(['status', '--wait'], { SLUICE_URL: api.url });
    expect((await running.ended).code).toBe(130);
    running = start(['status', '--wait', '--json'], { SLUICE_URL: api.url });
    const { code, stdout } = await running.ended;
    expect([code, JSON.parse(stdout)]).toEqual([130, { error: { code: 'interrupted', message: 'Interrupted.' } }]);
    await api.close();
  });

  it('ends with 130 on Ctrl-C while an answer does not come', async () => {
    let running: ReturnType<typeof start> | undefined;
    const silent = createServer(() => running?.child.kill('SIGINT'));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    running = start(['verify', '--json'], { SLUICE_URL: `http://127.0.0.1:${port}` });
    const { code, stdout } = await running.ended;
    expect([code, JSON.parse(stdout)]).toEqual([130, { error: { code: 'interrupted', message: 'Interrupted.' } }]);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });

  it.each([
    ['in the foreground', []],
    ['in the background', ['--detach']],
  ])('up %s says on stdout why it did not start', async (_name, more) => {
    // A configuration that is wrong.
    await writeFile(join(folder, 'sluice.yaml'), 'nope: 1\n');
    const wrong = await start(['up', '--json', ...more]).ended;
    await rm(join(folder, 'sluice.yaml'));
    expect([wrong.code, JSON.parse(wrong.stdout)]).toEqual([
      2,
      { error: { code: 'invalid_configuration', message: expect.stringContaining('nope') } },
    ]);
    // A data folder that another process holds: this one.
    const data = join(folder, 'data');
    await mkdir(data, { recursive: true });
    await writeFile(join(data, 'instance.lock'), JSON.stringify({ pid: process.pid }));
    const held = await start(['up', '--json', '--data', data, ...more]).ended;
    await rm(join(data, 'instance.lock'));
    expect([held.code, JSON.parse(held.stdout)]).toEqual([
      1,
      { error: { code: 'not_ready', message: expect.stringContaining(`process ${process.pid}`) } },
    ]);
    // Services that can't be reached.
    const env = { REDIS_URL: 'redis://127.0.0.1:9', WEAVIATE_URL: 'http://127.0.0.1:9' };
    const away = await start(['up', '--json', '--data', data, ...more], env).ended;
    expect([away.code, JSON.parse(away.stdout)]).toEqual([3, { error: { code: 'not_ready', message: expect.any(String) } }]);
  });
});
