import { join } from 'node:path';
import { writeSecretFile } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { firstThatWorks, type Step } from '../provision/steps.js';
import { buildWeaviate, builtWeaviate } from '../provision/weaviate-go.js';
import { downloadedWeaviate, downloadWeaviate } from '../provision/weaviate-release.js';
import { findProgram } from '../system/commands.js';
import { freePorts } from '../system/ports.js';
import type { Environment, Workplace } from '../system/workplace.js';
import { checkImage, containerName, findEngine } from './containers.js';
import type { Credentials } from './credentials.js';
import type { ServiceOptions } from './redis.js';
import { launchService, type ServiceRecord } from './service.js';

export const WEAVIATE_VERSION = '1.38.11';
/** Batches over gRPC streams, which the store uses, came with 1.36. */
const OLDEST = [1, 36] as const;
export const WEAVIATE_IMAGE = `semitechnologies/weaviate:${WEAVIATE_VERSION}`;
const READY_MS = 120_000;

/** Ready for requests and new enough; yields the server's version. */
export async function probeWeaviate({ url, apiKey }: Pick<ServiceRecord, 'url' | 'apiKey'>): Promise<string> {
  const at = (path: string) => new URL(path, url.endsWith('/') ? url : `${url}/`);
  const ready = await fetch(at('v1/.well-known/ready'), { signal: AbortSignal.timeout(5_000) });
  await ready.arrayBuffer();
  if (!ready.ok) throw new SluiceError('not_ready', `Weaviate answers ${ready.status} to /v1/.well-known/ready`);
  const answer = await fetch(at('v1/meta'), {
    signal: AbortSignal.timeout(5_000),
    ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
  });
  if (answer.status === 401 || answer.status === 403)
    throw new SluiceError('not_ready', `Weaviate refuses the key (${answer.status}): set WEAVIATE_API_KEY to one of its keys`);
  const meta: unknown = await answer.json();
  const version = typeof meta === 'object' && meta !== null && 'version' in meta ? String(meta.version) : 'unknown';
  return version;
}

/** True for versions that the store can work with. */
export function isSupportedWeaviate(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** Ports that a Weaviate opens, in the order in which they are chosen. */
interface WeaviatePorts {
  http: number;
  grpc: number;
  gossip: number;
  data: number;
  raft: number;
  raftRpc: number;
}

/**
 * Environment of a single Weaviate on loopback. Its gRPC, gossip and data listeners take all addresses where Weaviate knows no
 * setting for them. The timeouts' multiplier of 1 (5 is for clusters over a network) shortens its start by seconds.
 */
export function weaviateEnvironment(ports: WeaviatePorts, folder: string, credentials?: Credentials): Record<string, string> {
  return {
    ...authentication(credentials),
    // Answers that no page of a browser can read, since no page has this origin.
    CORS_ALLOW_ORIGIN: 'https://nobody.invalid',
    PERSISTENCE_DATA_PATH: folder,
    DEFAULT_VECTORIZER_MODULE: 'none',
    ENABLE_MODULES: '',
    DISABLE_TELEMETRY: 'true',
    DISK_USE_READONLY_PERCENTAGE: '98',
    LOG_LEVEL: 'warning',
    LOG_FORMAT: 'json',
    GRPC_PORT: String(ports.grpc),
    CLUSTER_HOSTNAME: 'node1',
    CLUSTER_ADVERTISE_ADDR: '127.0.0.1',
    CLUSTER_BIND_ADDR: '127.0.0.1',
    CLUSTER_GOSSIP_BIND_PORT: String(ports.gossip),
    CLUSTER_DATA_BIND_PORT: String(ports.data),
    RAFT_PORT: String(ports.raft),
    RAFT_INTERNAL_RPC_PORT: String(ports.raftRpc),
    RAFT_BOOTSTRAP_EXPECT: '1',
    RAFT_TIMEOUTS_MULTIPLIER: '1',
    GO_PROFILING_DISABLE: 'true',
    API_BASED_MODULES_DISABLED: 'true',
    // A library within asks the clouds' metadata address whether this is a cloud; asked here, nobody answers.
    GCE_METADATA_HOST: '127.0.0.1:9',
  };
}

/** The instance's key alone opens it, also its gRPC; its nodes have a password of their own. */
function authentication(credentials: Credentials | undefined): Record<string, string> {
  if (credentials === undefined) return { AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: 'true' };
  return {
    AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED: 'false',
    AUTHENTICATION_APIKEY_ENABLED: 'true',
    AUTHENTICATION_APIKEY_ALLOWED_KEYS: credentials.weaviateKey,
    AUTHENTICATION_APIKEY_USERS: 'sluice',
    AUTHORIZATION_ADMINLIST_ENABLED: 'true',
    AUTHORIZATION_ADMINLIST_USERS: 'sluice',
    CLUSTER_BASIC_AUTH_USERNAME: 'sluice',
    CLUSTER_BASIC_AUTH_PASSWORD: credentials.weaviateCluster,
  };
}

/** Finds, installs if need be, and starts a Weaviate; the first way that works. See DESIGN: services. */
export async function obtainWeaviate(workplace: Workplace, options: ServiceOptions): Promise<ServiceRecord> {
  const { env } = workplace;
  const given = env.WEAVIATE_URL;
  if (given !== undefined && given !== '') return useGivenWeaviate(given, env.WEAVIATE_API_KEY || undefined);
  const start = (via: string, program: string) => startProgram(via, program, workplace, options);

  async function findInstalled(): Promise<string> {
    const program = await installedProgram(env);
    if (program === undefined) throw new SluiceError('not_ready', 'no weaviate binary is installed');
    return program;
  }

  const steps: Step<ServiceRecord>[] = [
    { name: 'system', label: 'an installed weaviate binary', attempt: async () => start('system', await findInstalled()) },
    { name: 'container', label: 'a container engine', attempt: () => startContainer(workplace, options) },
    { name: 'release', label: 'the release binary', attempt: async () => start('release', await downloadWeaviate(workplace)) },
    { name: 'go', label: 'a build with Go', attempt: async () => start('go', await buildWeaviate(workplace)) },
  ];
  const forced = env.SLUICE_WEAVIATE || 'auto';
  // What an earlier start has installed comes before anything that may have to be fetched.
  const cached = forced === 'auto' ? ((await downloadedWeaviate(workplace)) ?? (await builtWeaviate(workplace))) : undefined;
  if (cached !== undefined) {
    steps.splice(1, 0, { name: 'cache', label: 'the Weaviate in the cache', attempt: () => start('cache', cached) });
    // The usual case of every start but the first: nothing to tell.
    if ((await installedProgram(env)) === undefined) steps.shift();
  }
  return firstThatWorks({
    subject: 'Weaviate',
    steps,
    forced,
    variable: 'SLUICE_WEAVIATE',
    advice:
      `Install Docker (or podman) or Go >= 1.21 and start again,\n` +
      `or name one that runs:  WEAVIATE_URL=http://host:8080 npm start`,
    workplace,
  });
}

async function installedProgram(env: Environment): Promise<string | undefined> {
  return (await findProgram('weaviate', env)) ?? (await findProgram('weaviate-server', env));
}

async function startProgram(via: string, program: string, workplace: Workplace, options: ServiceOptions): Promise<ServiceRecord> {
  const [http = 0, grpc = 0, gossip = 0, data = 0, raft = 0, raftRpc = 0] = await freePorts(6, options.ports);
  const folder = join(options.dataFolder, 'weaviate');
  workplace.say('Weaviate: starting');
  const service = await launchService(
    {
      role: 'weaviate',
      url: `http://127.0.0.1:${http}`,
      apiKey: options.credentials?.weaviateKey,
      via,
      launch: {
        kind: 'program',
        program,
        args: ['--host', '127.0.0.1', '--port', String(http), '--scheme', 'http'],
        env: weaviateEnvironment({ http, grpc, gossip, data, raft, raftRpc }, folder, options.credentials),
        cwd: folder,
        logFile: join(options.dataFolder, 'log', 'weaviate.ndjson'),
      },
      probe: probeWeaviate,
      readyMs: READY_MS,
      onSpawn: options.onSpawn,
    },
    workplace,
  );
  return service;
}

async function useGivenWeaviate(url: string, apiKey: string | undefined): Promise<ServiceRecord> {
  const version = await probeWeaviate({ url, apiKey }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SluiceError('not_ready', `the Weaviate of WEAVIATE_URL is not ready (${reason}): start it, or unset WEAVIATE_URL`, {
      cause,
    });
  });
  if (!isSupportedWeaviate(version)) {
    throw new SluiceError(
      'invalid_configuration',
      `the Weaviate of WEAVIATE_URL is ${version}: ${OLDEST.join('.')} or newer is needed`,
    );
  }
  return { role: 'weaviate', url, ...(apiKey === undefined ? {} : { apiKey }), via: 'WEAVIATE_URL', version };
}

async function startContainer(workplace: Workplace, options: ServiceOptions): Promise<ServiceRecord> {
  const engine = await findEngine(workplace.env);
  await checkImage(engine, WEAVIATE_IMAGE, workplace);
  const [http = 0, grpc = 0] = await freePorts(2, options.ports);
  const name = containerName('weaviate', options.dataFolder);
  const inside = weaviateEnvironment(
    { http: 8080, grpc: 50051, gossip: 7946, data: 7947, raft: 8300, raftRpc: 8301 },
    '/var/lib/weaviate',
    options.credentials,
  );
  // By a file: arguments are seen by everybody on the machine.
  const lines = Object.entries(inside).map(([key, value]) => `${key}=${value}\n`);
  const envFile = writeSecretFile(options.dataFolder, 'weaviate.env', lines.join(''));
  return launchService(
    {
      role: 'weaviate',
      url: `http://127.0.0.1:${http}`,
      apiKey: options.credentials?.weaviateKey,
      via: 'container',
      launch: {
        kind: 'container',
        engine,
        name,
        args: [
          ...[
            '--publish',
            `127.0.0.1:${http}:8080`,
            '--publish',
            `127.0.0.1:${grpc}:50051`,
            '--volume',
            `${name}:/var/lib/weaviate`,
          ],
          ...['--env-file', envFile],
          ...[WEAVIATE_IMAGE, '--host', '0.0.0.0', '--port', '8080', '--scheme', 'http'],
        ],
      },
      probe: probeWeaviate,
      readyMs: READY_MS,
      onSpawn: options.onSpawn,
    },
    workplace,
  );
}
