import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config, ConfigFlags } from './config.js';
import { loadConfig } from './load-config.js';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-config-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(text: string, name = 'sluice.yaml'): void {
  writeFileSync(join(cwd, name), text);
}

function load(given: { flags?: ConfigFlags; env?: Record<string, string> } = {}): Config {
  return loadConfig({ flags: given.flags ?? {}, env: given.env ?? {}, cwd });
}

/** Lines of the error, without the first. */
function problems(given: { flags?: ConfigFlags; env?: Record<string, string> } = {}): string[] {
  try {
    load(given);
  } catch (thrown) {
    if (!(thrown instanceof SluiceError)) throw thrown;
    expect(thrown.code).toBe('invalid_configuration');
    return thrown.message.split('\n').slice(1);
  }
  throw new Error('was accepted');
}

describe('flags over environment over file', () => {
  it('for the port', () => {
    expect(load().api).toMatchObject({ port: 4180, portIsSet: false });
    write('api: { port: 1 }');
    expect(load().api).toMatchObject({ port: 1, portIsSet: true });
    expect(load({ env: { SLUICE_PORT: '2' } }).api).toMatchObject({ port: 2, portIsSet: true });
    expect(load({ env: { SLUICE_PORT: '2' }, flags: { port: 3 } }).api.port).toBe(3);
  });

  it('for sources, where a name of the file keeps its settings', () => {
    write('sources: [{ name: a, path: x, stability_ms: 7 }, { name: b, path: y }]');
    const env = { SLUICE_SOURCES: JSON.stringify([{ name: 'a', path: 'z' }, 'c=d']) };
    expect(load({ env }).sources.map(({ name, path, stabilityMs }) => [name, path, stabilityMs])).toEqual([
      ['a', join(cwd, 'z'), 7],
      ['c', join(cwd, 'd'), 300],
    ]);
    expect(load({ env, flags: { sources: ['e'] } }).sources.map(({ name }) => name)).toEqual(['e']);
  });

  it('for the file itself, which must then be there', () => {
    write('search: { limit: 9 }', 'other.yaml');
    expect(load({ env: { SLUICE_CONFIG: 'other.yaml' } }).search.limit).toBe(9);
    expect(load({ env: { SLUICE_CONFIG: 'gone' }, flags: { config: 'other.yaml' } }).search.limit).toBe(9);
    expect(problems({ env: { SLUICE_CONFIG: 'gone' } })[0]).toContain('SLUICE_CONFIG: no file');
  });

  it('a variable that is empty is not set', () => {
    const env = { SLUICE_PORT: '', SLUICE_DATA: '', REDIS_URL: '', SLUICE_SOURCES: '', SLUICE_MODEL: '', SLUICE_OFFLINE: '' };
    expect(load({ env })).toEqual(load());
  });

  it('refuses values that mean nothing, and repeats no secret', () => {
    const found = problems({
      env: {
        SLUICE_PORT: '70000',
        SLUICE_LOG_LEVEL: 'loud',
        SLUICE_OFFLINE: 'maybe',
        SLUICE_REDIS: 'brew',
        SLUICE_WEAVIATE: 'cloud',
        SLUICE_NAMESPACE: 'a-b',
        SLUICE_SOURCES: '{',
        REDIS_URL: 'localhost:hunter2',
        WEAVIATE_URL: 'ftp://user:hunter2@x',
        SLUICE_URL: 'hunter2',
      },
    });
    expect(found).toHaveLength(10);
    expect(found.join('\n')).not.toContain('hunter2');
  });
});

describe('the instance', () => {
  it('has a namespace of its own by data folder, whatever its spelling, that a kept one or a variable overrides', () => {
    const name = load().runtime.namespace;
    expect(name).toMatch(/^sluice[0-9a-f]{10}$/);
    expect(load({ env: { SLUICE_DATA: './x/../.sluice' } }).runtime.namespace).toBe(name);
    expect(load({ env: { SLUICE_DATA: 'other' } }).runtime.namespace).not.toBe(name);
    mkdirSync(join(cwd, '.sluice'));
    expect(load().runtime.namespace).toBe(name);
    write('kept1\n', '.sluice/namespace');
    expect(load().runtime.namespace).toBe('kept1');
    expect(load({ env: { SLUICE_NAMESPACE: 'mine' } }).runtime.namespace).toBe('mine');
  });

  it('takes services, model and steps from the environment', () => {
    const { runtime } = load({
      env: {
        REDIS_URL: 'redis://h:1',
        WEAVIATE_URL: 'http://h:2',
        SLUICE_MODEL: 'm',
        SLUICE_REDIS: 'package',
        SLUICE_OFFLINE: '1',
      },
    });
    expect(runtime).toMatchObject({
      redisUrl: 'redis://h:1',
      weaviateUrl: 'http://h:2',
      modelFolder: join(cwd, 'm'),
      provision: { redis: 'package', weaviate: 'auto', model: join(cwd, 'm') },
      offline: true,
    });
    expect(load({ env: { SLUICE_MODEL: 'maven' } }).runtime.modelFolder).toBeUndefined();
  });
});
