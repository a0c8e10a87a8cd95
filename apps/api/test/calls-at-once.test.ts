import type { Retrieval } from '@sluice/retrieval';
import { until } from '@sluice/testkit';
import { afterEach, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
afterEach(() => world.close());

/** Searches that wait for their signal, or for `end`. */
async function start(callsAtOnce: number) {
  const signals: AbortSignal[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const search: Retrieval['search'] = async (_request, _caller, signal) => {
    if (signal === undefined) throw new Error('no signal');
    signals.push(signal);
    await Promise.race([ended, new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))]);
    return { results: [], applied_filter: {}, degraded: [], took_ms: 0 };
  };
  world = await createWorld();
  await world.close();
  const settings = { ...world.deps.settings, callsAtOnce };
  world = await createWorld({ retrieval: { ...world.deps.retrieval, search }, settings });
  const url = await world.app.listen({ port: 0, host: '127.0.0.1' });
  const ask = (signal?: AbortSignal) =>
    fetch(`${url}/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"kettle"}',
      ...(signal === undefined ? {} : { signal }),
    });
  return { ask, signals, end, url };
}

it('a client that goes stops its search', async () => {
  const { ask, signals } = await start(10);
  const client = new AbortController();
  const answer = ask(client.signal).catch(() => 'gone');
  await until(() => signals.length === 1);
  expect(signals[0]?.aborted).toBe(false);
  client.abort();
  expect(await answer).toBe('gone');
  await until(() => signals[0]?.aborted === true);
});

it('a caller has so many calls at once, and gets their places back when they end or their client goes', async () => {
  const { ask, signals, end, url } = await start(2);
  const client = new AbortController();
  const gone = ask(client.signal).catch(() => 'gone');
  const first = ask();
  await until(() => signals.length === 2);
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
  // Health is for everybody, at any time.
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  client.abort();
  await gone;
  await until(() => signals[0]?.aborted === true || signals[1]?.aborted === true);
  const second = ask();
  await until(() => signals.length === 3);
  expect((await ask()).status).toBe(429);
  end();
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  expect((await ask()).status).toBe(200);
});
