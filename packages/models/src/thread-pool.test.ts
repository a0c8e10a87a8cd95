import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createThreadPool, type ThreadPool } from './thread-pool.js';

const open: ThreadPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function pool(options: { threads?: number; unusable?: boolean; deathsOf667?: number } = {}): ThreadPool {
  const left = new SharedArrayBuffer(4);
  new Int32Array(left)[0] = options.deathsOf667 ?? 0;
  const created = createThreadPool({
    threads: options.threads ?? 2,
    start: () =>
      new Worker(new URL('../test/fake-thread.js', import.meta.url), { workerData: { left, unusable: options.unusable } }),
  });
  open.push(created);
  return created;
}

const input = (...ids: number[]) => ({ ids: Int32Array.from(ids) });
const many = (length: number, from = 0) => Array.from({ length }, (_, n) => input(from + n, ...new Array<number>(99).fill(1)));

describe('createThreadPool', () => {
  it('gives each output to its input, whatever runs at the same time', async () => {
    const threads = pool({ threads: 3 });
    const calls = Array.from({ length: 20 }, (_, n) => threads.run(many(n * 7, n * 1000), { urgent: n % 3 === 0 }));
    for (const [n, call] of calls.entries()) {
      expect((await call).map((output) => output[0])).toEqual(Array.from({ length: n * 7 }, (_, k) => n * 1000 + k));
    }
  });

  it('replaces a thread that dies, and runs its texts again', async () => {
    const threads = pool({ deathsOf667: 1 });
    const outputs = await threads.run([...many(30), input(667), ...many(30)]);
    expect(outputs).toHaveLength(61);
    await threads.ready();
    expect(threads.stats()).toEqual({ threads: 2, loads: 3, deaths: 1 });
  });

  it('gives up on a text that kills its thread twice, and on no other', async () => {
    const threads = pool({ threads: 1 });
    const poison = threads.run([input(666)]);
    const neighbours = Array.from({ length: 5 }, () => threads.run(many(20)));
    await expect(poison).rejects.toMatchObject({ code: 'embed_failed', kind: 'transient' });
    for (const neighbour of neighbours) expect(await neighbour).toHaveLength(20);
    expect(threads.stats().deaths).toBe(2);
    expect(await threads.run(many(3))).toHaveLength(3);
  });

  it('fails the call whose text the model refuses', async () => {
    const threads = pool();
    const other = threads.run(many(10));
    await expect(threads.run([input(668)])).rejects.toMatchObject({ code: 'embed_failed', message: /shape/ });
    expect(await other).toHaveLength(10);
  });

  it('tells callers when the model cannot be loaded, and tries again on the next call', async () => {
    const threads = pool({ unusable: true });
    await expect(threads.ready()).rejects.toMatchObject({ code: 'model_unavailable', message: /no such file/ });
    await expect(threads.run([input(1)])).rejects.toMatchObject({ code: 'model_unavailable', message: /no such file/ });
  });

  it('fails what is under way when it is closed', async () => {
    const threads = pool();
    const running = threads.run(many(5000));
    const failure = expect(running).rejects.toMatchObject({ code: 'embed_failed' });
    await threads.close();
    await failure;
    await expect(threads.run([input(1)])).rejects.toMatchObject({ code: 'embed_failed' });
  });
});
