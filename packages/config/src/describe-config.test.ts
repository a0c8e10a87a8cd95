import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { childEnvironment } from './child-environment.js';
import { describeConfig } from './describe-config.js';
import { loadConfig } from './load-config.js';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-config-'));
  for (const folder of ['inbox', 'a', 'b', 'c']) mkdirSync(join(cwd, folder));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

it('says in one line a source who may read it, and why', () => {
  expect(describeConfig(loadConfig({ env: {}, cwd }))).toEqual([
    `source "inbox": ${cwd}/inbox, level 1 (there is no configuration file)`,
  ]);
  writeFileSync(
    join(cwd, 'sluice.yaml'),
    `sources:
  - { name: a, path: a, metadata: { security_level: 2, allowed_groups: [x, y] } }
  - { name: b, path: b, rules: [{ match: "p/**", metadata: { access_level: public } }, { match: q }] }
  - { name: c, path: c, metadata: { allowed_groups: [] } }
`,
  );
  expect(describeConfig(loadConfig({ env: {}, cwd }))).toEqual([
    `source "a": ${cwd}/a, level 2, groups x, y`,
    `source "b": ${cwd}/b, level 5 (the strictest, where the configuration sets none), one rule sets access by path`,
    `source "c": ${cwd}/c, level 5 (the strictest, where the configuration sets none), groups none`,
  ]);
});

it('a child process comes to the same configuration', () => {
  writeFileSync(
    join(cwd, 'sluice.yaml'),
    'sources: [{ name: a, path: a, stability_ms: 5 }, { name: b, path: b }]\nsearch: { limit: 3 }\n',
  );
  for (const flags of [{}, { sources: ['b=c', 'a'], port: 5 }]) {
    const config = loadConfig({ flags, env: {}, cwd });
    const services = { redisUrl: 'redis://r', weaviateUrl: 'http://w', modelFolder: '/m', port: 4180 };
    const child = loadConfig({ env: childEnvironment(config, services), cwd: tmpdir() });
    expect(child).toEqual({
      ...config,
      api: { ...config.api, port: 4180, portIsSet: true },
      embedding: { ...config.embedding, path: '/m' },
      runtime: {
        ...config.runtime,
        redisUrl: 'redis://r',
        weaviateUrl: 'http://w',
        modelFolder: '/m',
        provision: { ...config.runtime.provision, model: '/m' },
      },
    });
  }
});
