import { SluiceError } from '@sluice/core';
import { testServices, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench, createRuns, request, uuidOf } from '../test/bench.js';
import { startWorkerProcess, type WorkerProcess } from '../test/processes.js';
import { createFences } from './fences.js';
import { createReconcileWorker } from './reconcile-worker.js';

const url = testServices().redis;
let bench: Bench;
const processes: WorkerProcess[] = [];
beforeEach(() => {
  bench = createBench();
});
afterEach(async () => {
  for (const one of processes.splice(0))
    if (one.child.exitCode === null && one.child.signalCode === null) await one.end('SIGKILL');
  await bench.end();
});
const add = (...paths: string[]) =>
  bench.queue.addBulk(
    paths.map((path) => request(path)),
    'interactive',
  );
// Long enough that a busy machine loses no lock by itself.
const FAST = { settings: { lockMs: 2_000, stalledMs: 500 } };

describe('retries', () => {
  it('follow the back-off, and end with success', async () => {
    await bench.end();
    bench = createBench({ settings: { attempts: 3, backoffMs: 100 } });
    const at: number[] = [];
    await bench.work(async (_, { attemptsMade, isLastAttempt }) => {
      at.push(Date.now());
      expect(isLastAttempt).toBe(attemptsMade === 2);
      if (attemptsMade < 2) throw new SluiceError('embed_failed', 'flaky');
    });
    await add('a');
    await until(() => bench.queue.isIdle());
    const [first = 0, second = 0, third = 0] = at;
    expect(at).toHaveLength(3);
    // A lower bound is the law here: the wait doubles, jitter only adds.
    expect(second - first).toBeGreaterThanOrEqual(100);
    expect(third - second).toBeGreaterThanOrEqual(200);
    expect((await bench.queue.counts()).failed).toBe(0);
  });

  it('end in one dead letter when the fault stays, its last attempt told so', async () => {
    const last: boolean[] = [];
    await bench.work(async (_, context) => {
      last.push(context.isLastAttempt);
      throw new SluiceError('embed_failed', 'down');
    });
    await add('a');
    await until(() => bench.queue.isIdle());
    expect(last).toEqual([false, false, true]);
    expect(await bench.queue.failedJobs()).toMatchObject([
      { path: 'a', reason: 'embed_failed; sluice dlq show tells more', attemptsMade: 3 },
    ]);
  });

  it('are not made for a permanent fault', async () => {
    let runs = 0;
    await bench.work(async () => {
      runs++;
      throw new SluiceError('corrupt', 'no PDF');
    });
    await add('a');
    await until(() => bench.queue.isIdle());
    expect(runs).toBe(1);
    expect(await bench.queue.failedJobs()).toMatchObject([{ reason: 'corrupt; sluice dlq show tells more' }]);
  });

  it('wait as long as a server that limits rates asks for', async () => {
    const at: number[] = [];
    await bench.work(async () => {
      at.push(Date.now());
      if (at.length === 1)
        throw new SluiceError('llm_failed', 'slow down', { kind: 'rate_limited', details: { retry_after_ms: 400 } });
    });
    await add('a');
    await until(() => bench.queue.isIdle());
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(400);
  });

  it('spend no attempt while the installation is at fault', async () => {
    const attempts: number[] = [];
    await bench.work(
      async (_, { attemptsMade }) => {
        attempts.push(attemptsMade);
        if (attempts.length < 3) throw new SluiceError('queue_unavailable', 'away');
      },
      { settings: { outageMs: 20 } },
    );
    await add('a');
    await until(() => bench.queue.isIdle());
    expect(attempts).toEqual([0, 0, 0]);
  });

  it('skip a job that is gone, and refuse one of another kind', async () => {
    const seen: string[] = [];
    await bench.queue.pause();
    await add('gone', 'here');
    const [gone] = (await bench.queue.board.getJobs(['prioritized'])).filter((job) => job.data.path === 'gone');
    await bench.redis.del(bench.queue.board.toKey(gone?.id ?? ''));
    await bench.queue.board.add('strange', { what: 1 });
    await bench.work(async (job) => {
      seen.push(job.path);
    });
    await bench.queue.resume();
    await until(async () => (await bench.queue.isIdle()) && seen.length > 0);
    expect(seen).toEqual(['here']);
    expect((await bench.queue.counts()).failed).toBe(1);
  });
});

describe('an outage of the store', () => {
  it('holds every job without spending attempts, and ends by itself', async () => {
    let down = true;
    let probes = 0;
    const attempts: number[] = [];
    const worker = await bench.work(
      async (_, { attemptsMade }) => {
        attempts.push(attemptsMade);
        if (down) throw new SluiceError('store_unavailable', 'refused');
      },
      {
        settings: { outageMs: 20 },
        probeStore: async () => {
          probes++;
          if (down) throw new Error('refused');
        },
      },
    );
    await add(...Array.from({ length: 30 }, (_, n) => `${n}`));
    await until(() => probes >= 4);
    expect(worker.health()).toMatchObject({ consuming: false, outageSince: expect.any(Number) });
    const tried = attempts.length;
    expect(tried).toBeLessThan(30);
    expect(await bench.queue.counts()).toEqual({ waiting: 30, active: 0, delayed: 0, failed: 0 });
    down = false;
    await until(() => bench.queue.isIdle());
    expect(attempts).toHaveLength(tried + 30);
    expect(new Set(attempts)).toEqual(new Set([0]));
    expect(worker.health()).toMatchObject({ consuming: true });
    expect(worker.health().outageSince).toBeUndefined();
  });

  it('and one of the embedding endpoint: jobs are held until both are back, and no attempt is spent', async () => {
    const down = new Set(['store', 'endpoint']);
    let probes = 0;
    const attempts: number[] = [];
    const probe = (service: string) => async () => {
      probes++;
      if (down.has(service)) throw new Error(service);
    };
    const worker = await bench.work(
      async ({ path }, { attemptsMade }) => {
        attempts.push(attemptsMade);
        if (down.has('endpoint') && path < '5') throw new SluiceError('embed_failed', 'refused', { kind: 'rate_limited' });
        if (down.has('store')) throw new SluiceError('store_unavailable', 'refused');
      },
      { concurrency: 10, settings: { outageMs: 20 }, probeStore: probe('store'), probeEmbedder: probe('endpoint') },
    );
    await add(...Array.from({ length: 10 }, (_, n) => `${n}`));
    await until(() => probes >= 6);
    down.delete('store');
    const seen = probes;
    await until(() => probes >= seen + 4);
    expect(worker.health()).toMatchObject({ consuming: false, outageSince: expect.any(Number) });
    down.delete('endpoint');
    await until(() => bench.queue.isIdle());
    expect(new Set(attempts)).toEqual(new Set([0]));
    expect(worker.health().outageSince).toBeUndefined();
  });

  it('is none of the endpoint when a text is refused for good: its document fails at once', async () => {
    let runs = 0;
    let probes = 0;
    await bench.work(
      async () => {
        runs++;
        throw new SluiceError('embed_failed', 'refused', { kind: 'permanent' });
      },
      {
        probeEmbedder: async () => {
          probes++;
        },
      },
    );
    await add('poison');
    await until(() => bench.queue.isIdle());
    expect([runs, probes, (await bench.queue.counts()).failed]).toEqual([1, 0, 1]);
  });

  it('is none when the store answers: a document that it alone refuses becomes a dead letter', async () => {
    let runs = 0;
    await bench.work(
      async ({ path }) => {
        if (path === 'poison') {
          runs++;
          throw new SluiceError('store_unavailable', 'timed out');
        }
      },
      { probeStore: async () => undefined },
    );
    await add('poison', 'a', 'b');
    await until(() => bench.queue.isIdle());
    expect(runs).toBe(3);
    expect(await bench.queue.failedJobs()).toMatchObject([{ path: 'poison' }]);
  });
});

describe('a store that answers, but refuses what is written', () => {
  it('is held like an outage, and costs four attempts each time at most', async () => {
    await bench.end();
    bench = createBench({ settings: { attempts: 50, backoffMs: 10 } });
    let down = true;
    const spent = new Map<string, number>();
    const worker = await bench.work(
      async ({ path }, { attemptsMade }) => {
        spent.set(path, attemptsMade);
        if (down) throw new SluiceError('store_unavailable', 'not enough memory');
      },
      { settings: { outageMs: 100 }, probeStore: async () => undefined },
    );
    await add(...Array.from({ length: 30 }, (_, n) => `${n}`));
    const holds = new Set<number>();
    await until(() => {
      const since = worker.health().outageSince;
      if (since !== undefined) holds.add(since);
      return holds.size >= 3;
    });
    down = false;
    await until(() => bench.queue.isIdle());
    expect([...spent.values()].reduce((sum, attempts) => sum + attempts, 0)).toBeLessThanOrEqual(4 * (holds.size + 1));
    expect((await bench.queue.counts()).failed).toBe(0);
    expect(worker.health().outageSince).toBeUndefined();
  });

  it('keeps no document for ever that it refuses for good, and others get their turn', async () => {
    const done: string[] = [];
    await bench.work(
      async ({ path }) => {
        if (path.startsWith('refused')) throw new SluiceError('store_unavailable', 'timed out');
        done.push(path);
      },
      { concurrency: 4, settings: { outageMs: 10 }, probeStore: async () => undefined },
    );
    await add(...Array.from({ length: 12 }, (_, n) => `refused-${n}`), 'fine');
    await until(() => bench.queue.isIdle());
    expect(done).toEqual(['fine']);
    expect((await bench.queue.counts()).failed).toBe(12);
  });
});

describe('a failure that could not be recorded', () => {
  it('does not end its job, though no attempt is left', async () => {
    let runs = 0;
    await bench.work(
      async (_, { isLastAttempt }) => {
        runs++;
        if (runs < 6)
          throw new SluiceError('store_unavailable', 'refused', isLastAttempt ? { details: { unrecorded: true } } : {});
      },
      { settings: { outageMs: 20 }, probeStore: async () => undefined },
    );
    await add('a');
    await until(() => bench.queue.isIdle());
    expect(runs).toBe(6);
    expect((await bench.queue.counts()).failed).toBe(0);
  });
});

it('that workers died of a document is not forgotten when it could not be recorded', async () => {
  // Connected by then.
  await bench.queue.isIdle();
  await bench.redis.set(`${bench.namespace}:crashes:${uuidOf('a')}`, '3 1700000000000');
  const seen: unknown[] = [];
  await bench.work(
    async (_, { crashes, crashedMs }) => {
      seen.push([crashes, crashedMs]);
      if (seen.length < 3) throw new SluiceError('store_rejected', 'no', { kind: 'transient', details: { unrecorded: true } });
    },
    { settings: { outageMs: 20 } },
  );
  await add('a');
  await until(() => bench.queue.isIdle());
  expect(seen).toEqual(Array(3).fill([3, 1_700_000_000_000]));
});

describe('a worker that is lost', () => {
  it('is counted against its documents until one ends, and nothing is lost', async () => {
    await add('a', 'b');
    for (let kill = 0; kill < 3; kill++) {
      const lost = await startWorkerProcess(url, bench.namespace, 'deaf');
      processes.push(lost);
      // From the second crash on a document runs alone: then only one of the two begins.
      await until(() => lost.lines.some((line) => line.startsWith('began')) && (kill === 2 || lost.lines.length === 3));
      await lost.end('SIGKILL');
      expect(lost.lines.filter((line) => line.startsWith('began')).length).toBe(kill === 2 ? 1 : 2);
    }
    const crashes = new Map<string, number>();
    await bench.work(async ({ path }, context) => {
      crashes.set(path, context.crashes);
    }, FAST);
    await until(() => bench.queue.isIdle());
    expect([...crashes.values()].sort()).toEqual([2, 3]);
    expect((await bench.queue.counts()).failed).toBe(0);
    await add('a', 'b');
    await until(() => bench.queue.isIdle());
    expect([...crashes.values()]).toEqual([0, 0]);
  });

  it('does no harm when it wakes up: its job ran elsewhere, its fence no longer holds', async () => {
    await add('a');
    const frozen = await startWorkerProcess(url, bench.namespace, 'frozen');
    processes.push(frozen);
    const fences = createFences({ redis: bench.redis, namespace: bench.namespace });
    const old = await fences.take(uuidOf('a'));
    await frozen.says('began a 0');
    frozen.child.kill('SIGSTOP');
    let fresh = old;
    await bench.work(async () => {
      fresh = await fences.take(uuidOf('a'));
    }, FAST);
    await until(() => fresh !== old);
    frozen.child.kill('SIGCONT');
    await frozen.says('ended a');
    await until(() => bench.queue.isIdle());
    expect(await fences.holds(uuidOf('a'), old)).toBe(false);
    expect(await fences.holds(uuidOf('a'), fresh)).toBe(true);
    expect((await bench.queue.counts()).failed).toBe(0);
  });

  it('learns by its signal that its job was given away', async () => {
    const { handle, next } = createRuns();
    await bench.work(handle, FAST);
    await add('a');
    const run = await next();
    const [job] = await bench.queue.board.getActive();
    await bench.redis.set(`${bench.queue.board.toKey(job?.id ?? '')}:lock`, 'another worker');
    await until(() => run.context.signal.aborted);
    await bench.redis.del(`${bench.queue.board.toKey(job?.id ?? '')}:lock`);
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
  });
});

describe('stopping', () => {
  it.each(['quick', 'failing', 'deaf'] as const)('leaves no job behind (%s)', async (mode) => {
    await add('a', 'b');
    // Its stop takes more than two seconds: what it gives back must still be its own, on a slow machine too.
    const ending = await startWorkerProcess(url, bench.namespace, mode, 30_000);
    processes.push(ending);
    await ending.says('began a 0');
    await ending.says('began b 0');
    expect(await ending.end('SIGTERM')).toBe(0);
    // What did not end was given back at once, nothing spent: no wait for a lock to expire.
    const { waiting, ...rest } = await bench.queue.counts();
    expect(rest).toEqual({ active: 0, delayed: 0, failed: 0 });
    const ended = ending.lines.filter((line) => line.startsWith('ended')).length;
    expect(waiting).toBe(2 - ended);
    expect(ended).toBe(mode === 'quick' ? 2 : 0);
    const seen: number[] = [];
    await bench.work(async (_, { attemptsMade, crashes }) => {
      seen.push(attemptsMade, crashes);
    });
    await until(() => bench.queue.isIdle());
    expect(new Set([...seen, 0])).toEqual(new Set([0]));
  });

  it('lets running jobs end, and takes no others', async () => {
    const { handle, runs, next } = createRuns();
    const worker = await bench.work(handle, { concurrency: 1 });
    await add('a', 'b');
    const run = await next();
    const stopped = worker.stop();
    expect(run.context.signal.aborted).toBe(false);
    run.succeed();
    await stopped;
    expect(runs).toHaveLength(1);
    expect(await bench.queue.counts()).toMatchObject({ waiting: 1, active: 0, failed: 0 });
  });

  it('ends also when Redis was never there', async () => {
    const worker = createReconcileWorker({
      url: 'redis://127.0.0.1:1',
      namespace: 'none',
      concurrency: 1,
      handle: async () => undefined,
    });
    await worker.start();
    expect(worker.health()).toEqual({ consuming: false, active: 0 });
    await worker.stop();
  });
});

it('a worker whose event loop does not turn is reported while it is connected, and one at work or killed is not', async () => {
  await bench.work(async () => {});
  const one = await startWorkerProcess(url, bench.namespace, 'deaf');
  processes.push(one);
  const spoken = () => bench.redis.zcard(`${bench.namespace}:worker-beats`);
  await until(async () => (await bench.queue.board.getWorkersCount()) === 2 && (await spoken()) === 2);
  expect(await bench.queue.standingWorkers()).toEqual([]);
  one.child.kill('SIGSTOP');
  const [standing] = await until(async () => {
    const found = await bench.queue.standingWorkers();
    return found.length > 0 && found;
  });
  expect(standing?.pid).toBe(one.child.pid);
  expect(standing?.seconds).toBeGreaterThanOrEqual(15);
  one.child.kill('SIGCONT');
  await until(async () => (await bench.queue.standingWorkers()).length === 0);

  const spinning = await startWorkerProcess(url, bench.namespace, 'spinning');
  processes.push(spinning);
  await one.end('SIGKILL');
  await bench.queue.addBulk(
    Array.from({ length: 20 }, (_, n) => request(`s${n}`)),
    'bulk',
  );
  await until(() => spinning.lines.some((line) => line.startsWith('began')));
  const again = await until(async () => {
    const found = await bench.queue.standingWorkers();
    return found.length > 0 && found;
  });
  expect(again.map(({ pid }) => pid)).toEqual([spinning.child.pid]);
  await spinning.end('SIGKILL');
  await until(async () => (await bench.queue.standingWorkers()).length === 0);
}, 120_000);
