import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import type { Caller } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callsOf, faultOf, type OpenApi } from './described-calls.js';
import { createWeaviateWorld } from './weaviate-world.js';
import { createWorld, type World } from './world.js';

const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as OpenApi;
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, method, operation })),
);

const CALLERS: Partial<Caller>[] = [
  { role: 'operator', clearance: 5 },
  { role: 'reader', clearance: 1 },
];

async function fill(world: World): Promise<void> {
  for (const [n, name] of ['a.md', 'b.md', 'c.md'].entries()) {
    await world.put({
      docId: `inbox/${name}`,
      text: `kettle number ${n} boils water\n\nIn 2023 the second paragraph stood here.`,
      metadata: { tags: ['a', 'b'], fields: { year: 2020 + n }, security_level: n === 2 ? 5 : 1 },
    });
  }
}

/** Calls an operation in many ways; every answer must be one that the document describes. */
async function check(
  world: World,
  { path, method, operation }: (typeof OPERATIONS)[number],
  numRuns: number,
): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (const caller of CALLERS) {
    world.as(caller);
    await fc.assert(
      fc.asyncProperty(callsOf(document, path, method, operation), async (call) => {
        const answer = await world.app.inject(call);
        statuses.add(answer.statusCode);
        expect(faultOf(document, operation, answer), JSON.stringify(call)).toBeUndefined();
      }),
      { numRuns },
    );
  }
  return statuses;
}

describe('every answer is one that the OpenAPI document describes', () => {
  it.each(OPERATIONS)('$name', async (described) => {
    const world = await createWorld();
    await fill(world);
    const statuses = await check(world, described, 60);
    // Not all were refused for the same reason, so that the calls have reached the route.
    expect(statuses.size).toBeGreaterThan(1);
    await world.close();
  });

  it.each(OPERATIONS.filter(({ path }) => path.startsWith('/v1/')))('$name, over Weaviate', async (described) => {
    const world = await createWeaviateWorld();
    await fill(world);
    await check(world, described, 40);
    await world.close();
  });
});

it('an address answers every method that it does not have with 405, and names those it has', async () => {
  const world = await createWorld();
  for (const method of METHODS) {
    // CONNECT asks a proxy for a tunnel, and M-SEARCH can not be injected.
    if (['GET', 'HEAD', 'OPTIONS', 'CONNECT', 'M-SEARCH'].includes(method)) continue;
    const answer = await world.app.inject({ method: method as 'PUT', url: '/v1/documents' });
    expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
  }
  await world.close();
});

it('a body that is compressed is refused, whatever it holds', async () => {
  const world = await createWorld();
  for (const [coding, status] of [
    ['gzip', 415],
    ['br', 415],
    ['identity', 200],
  ] as const) {
    const headers = { 'content-encoding': coding };
    const answer = await world.app.inject({ method: 'POST', url: '/v1/search', headers, payload: { query: 'kettle' } });
    expect([coding, answer.statusCode]).toEqual([coding, status]);
  }
  await world.close();
});
