import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
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

  it('says in a line that nothing runs, exit 3', async () => {
    const { code, stdout, stderr } = await start(['status']).ended;
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
    await api.close();
  });
});
