import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../system/ports.js';
import { createWorkplace } from '../system/workplace.js';
import { inspectRedis, obtainRedis } from './redis.js';
import { isSupportedWeaviate, obtainWeaviate } from './weaviate.js';

const options = { dataFolder: '/nowhere' };
const workplace = (env: Record<string, string>) => createWorkplace(env, () => undefined);

describe('services given by their address', () => {
  it('are used and never launched', async () => {
    const { redis, weaviate } = testServices();
    const both = workplace({ REDIS_URL: redis, WEAVIATE_URL: weaviate, PATH: '' });
    for (const service of [await obtainRedis(both, options), await obtainWeaviate(both, options)]) {
      expect(service.launch).toBeUndefined();
      expect(service.process).toBeUndefined();
      expect(service.version).toMatch(/^\d+\.\d+/);
    }
  });

  it('are an error that names the variable when they do not answer', async () => {
    const [port = 0] = await freePorts(1);
    await expect(obtainRedis(workplace({ REDIS_URL: `redis://127.0.0.1:${port}` }), options)).rejects.toThrow(
      /REDIS_URL can't be reached/,
    );
    const dead = workplace({ WEAVIATE_URL: `http://127.0.0.1:${port}` });
    await expect(obtainWeaviate(dead, options)).rejects.toThrow(/WEAVIATE_URL is not ready/);
  });

  it('tell whether Redis evicts and whether it logs its writes', async () => {
    expect(await inspectRedis(testServices().redis)).toMatchObject({ maxmemoryPolicy: 'noeviction', appendOnly: true });
  });

  it('are refused when Weaviate is too old', async () => {
    const server = createServer((request, response) => response.end(request.url === '/v1/meta' ? '{"version":"1.30.2"}' : ''));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const old = workplace({ WEAVIATE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    await expect(obtainWeaviate(old, options)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('1.30.2'),
    });
    server.close();
  });
});

describe('isSupportedWeaviate', () => {
  it.each([
    ['1.38.11', true],
    ['1.36.0', true],
    ['2.0.0', true],
    ['1.35.9', false],
    ['unknown', false],
  ])('%s: %s', (version, expected) => {
    expect(isSupportedWeaviate(version)).toBe(expected);
  });
});
