import { SluiceError, systemClock } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const get = async (url: string) => {
  const response = await world.app.inject({ method: 'GET', url });
  return { status: response.statusCode, body: response.json() };
};

describe('health and metrics', () => {
  it('readyz is ready, degraded without Redis, and 503 without the store', async () => {
    let now = 0;
    await world.close();
    world = await createWorld({ clock: { ...systemClock, monotonic: () => now } });
    expect((await get('/readyz')).body.status).toBe('ready');
    world.queue.state.broken = true;
    now += 1_000;
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { status: 'degraded', checks: { redis: { ok: false } } } });
    await world.close();
    world = await createWorld();
    world.store.checkReady = async () => {
      throw new SluiceError('store_unavailable', 'Weaviate does not answer');
    };
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', checks: { weaviate: { ok: false } } },
    });
    expect((await get('/healthz')).status).toBe(200);
  });

  it('readyz checks once a second, however many ask, and writes nothing', async () => {
    let now = 0;
    let checks = 0;
    const calls = { ensure: 0 };
    await world.close();
    world = await createWorld({
      clock: { ...systemClock, monotonic: () => now },
      checkModel: async () => {
        checks += 1;
      },
    });
    world.store.ensureSchema = async () => {
      calls.ensure += 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => get('/readyz')));
    now += 999;
    await get('/readyz');
    expect(checks).toBe(1);
    now += 1;
    await get('/readyz');
    expect([checks, calls.ensure]).toEqual([2, 0]);
  });

  it('reports a worker that stands still, and which it is to those who may ask for the status', async () => {
    const line = async () => (await world.app.inject({ method: 'GET', url: '/metrics' })).body;
    expect((await get('/ops/api/status')).body.standing_workers).toBeUndefined();
    expect(await line()).toContain('\nsluice_workers_standing 0\n');
    world.queue.state.standing.push({ host: 'box', pid: 4711, seconds: 75 });
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { status: 'degraded', checks: { worker: { ok: false } } } });
    expect((await get('/readyz')).body.checks.worker.detail).toMatch(/^a worker has stood still for 75 s/);
    expect((await get('/ops/api/status')).body.standing_workers).toEqual([{ host: 'box', pid: 4711, seconds: 75 }]);
    expect(await line()).toContain('\nsluice_workers_standing 1\n');
  });

  it.each([
    [
      "The model can't be loaded: /home/ada/models/x/model.onnx is damaged",
      "The model can't be loaded: .../model.onnx is damaged",
    ],
    ["EACCES: permission denied, open '/srv/data/key'", "EACCES: permission denied, open '.../key'"],
    ['Weaviate at http://10.0.0.1:8080/v1/schema says a/b', 'Weaviate at http://10.0.0.1:8080/v1/schema says a/b'],
  ])('readyz tells nobody where things lie: %s', async (message, told) => {
    world.deps.checkModel = async () => {
      throw new SluiceError('model_unavailable', message);
    };
    expect((await get('/readyz')).body.checks.model.detail).toBe(told);
  });

  it('metrics count documents, jobs and dead letters when asked', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words', metadata: { security_level: 5 } });
    await world.put({ docId: 'notes/b.pdf', record: { status: 'failed', reason: 'corrupt' } });
    await world.queue.queue.add({ source: 'inbox', path: 'c.md', cause: 'add' }, 'bulk');
    const counted = async () => (await world.app.inject({ method: 'GET', url: '/metrics' })).body;
    // Of what the caller may know: a.md is of level 5, c.md waits in a source of level 1.
    expect(await counted()).toContain('sluice_documents{source="inbox",status="indexed"} 0');
    expect(await counted()).toContain('sluice_documents{source="inbox",status="pending"} 1');
    world.as({ clearance: 5 });
    const response = await world.app.inject({ method: 'GET', url: '/metrics' });
    expect(response.headers['content-type']).toContain('text/plain');
    expect(response.body).toContain('sluice_documents{source="inbox",status="indexed"} 1');
    expect(response.body).toContain('sluice_documents{source="notes",status="failed"} 1');
    expect(response.body).toContain('sluice_queue_jobs{queue="reconcile",state="waiting"} 1');
    expect(response.body).toContain('sluice_dead_letters{code="corrupt"} 1');
  });

  it('metrics tell which services answer, whether jobs are taken, and what the watcher says of each folder', async () => {
    world.deps.control.state = async (source) =>
      source === 'notes' ? { reachable: false, deletes_suspended: true } : { reachable: true, deletes_suspended: false };
    const lines = async () => (await world.app.inject({ method: 'GET', url: '/metrics' })).body.split('\n');
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'sluice_service_up{service="redis"} 1',
        'sluice_service_up{service="weaviate"} 1',
        'sluice_worker_consuming 1',
        'sluice_queue_paused 0',
        'sluice_source_reachable{source="inbox"} 1',
        'sluice_source_reachable{source="notes"} 0',
        'sluice_source_deletes_suspended{source="notes"} 1',
      ]),
    );
    world.queue.state.broken = true;
    const without = await lines();
    expect(without).toContain('sluice_service_up{service="redis"} 0');
    // A number that nobody knows any more is not told.
    expect(without.filter((line) => /^sluice_(queue_jobs|queue_paused|worker_consuming)\b/.test(line))).toEqual([]);
  });
});
