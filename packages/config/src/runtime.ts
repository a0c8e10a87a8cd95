import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@sluice/core';
import { type ConfigFlags, type Environment, LOG_LEVELS, type LogLevel, type RuntimeConfig } from './config.js';
import { absolutePath, canonicalPath } from './paths.js';
import type { Problem } from './problems.js';

const NAMESPACE = /^[A-Za-z][A-Za-z0-9]{0,39}$/;

/** File of the data folder that keeps the instance's namespace, so that a data folder may be moved. Written by the launcher. */
const NAMESPACE_FILE = 'namespace';

/** What comes from flags and environment alone. */
export function readRuntime(flags: ConfigFlags, env: Environment, cwd: string, problems: Problem[]): RuntimeConfig {
  const refuse = (path: string, message: string) => problems.push({ origin: 'environment', path, message });
  const dataFolder = absolutePath(cwd, flags.data ?? given(env.SLUICE_DATA) ?? '.sluice', env.HOME);
  const redisUrl = readUrl(env, 'REDIS_URL', ['redis:', 'rediss:'], refuse);
  const weaviateUrl = readUrl(env, 'WEAVIATE_URL', ['http:', 'https:'], refuse);
  // Nothing is asked over gRPC: an address of it is checked, and that is all.
  readUrl(env, 'WEAVIATE_GRPC_URL', ['http:', 'https:', 'grpc:', 'grpcs:'], refuse);
  const weaviateApiKey = readKey(env, 'WEAVIATE_API_KEY', refuse);
  const url = flags.url ?? readUrl(env, 'SLUICE_URL', ['http:', 'https:'], refuse);
  const apiKey = flags.apiKey ?? given(env.SLUICE_API_KEY);
  const model = readModel(env, cwd);
  const faults = given(env.SLUICE_FAULTS);
  return {
    dataFolder,
    ...(faults === undefined ? {} : { faultsFolder: absolutePath(cwd, faults, env.HOME) }),
    logFolder: join(dataFolder, 'log'),
    metricsFolder: join(dataFolder, 'metrics'),
    sourcesFolder: join(dataFolder, 'sources'),
    ...(redisUrl === undefined ? {} : { redisUrl }),
    ...(weaviateUrl === undefined ? {} : { weaviateUrl }),
    ...(weaviateApiKey === undefined ? {} : { weaviateApiKey }),
    ...(model.folder === undefined ? {} : { modelFolder: model.folder }),
    provision: {
      redis: readChoice(env, 'SLUICE_REDIS', ['auto', 'system', 'container', 'package'], refuse),
      weaviate: readChoice(env, 'SLUICE_WEAVIATE', ['auto', 'system', 'container', 'release', 'go'], refuse),
      model: model.choice,
    },
    logLevel: readLogLevel(flags, env, problems),
    offline: readSwitch(env, 'SLUICE_OFFLINE', refuse),
    namespace: readNamespace(env, dataFolder, refuse),
    ...(url === undefined ? {} : { url }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

/** A variable that is set to nothing is not set. */
export function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

type Refuse = (path: string, message: string) => void;

function readUrl(env: Environment, name: string, protocols: readonly string[], refuse: Refuse): string | undefined {
  const value = given(env[name]);
  if (value === undefined) return undefined;
  // The value stays out of messages: it may hold a password.
  if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
    refuse(name, `expected an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
  }
  return value;
}

/** A key travels in a header: visible ASCII alone. */
function readKey(env: Environment, name: string, refuse: Refuse): string | undefined {
  const value = given(env[name]);
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) refuse(name, 'holds white space or signs that no key has');
  return value;
}

function readChoice(env: Environment, name: string, choices: readonly string[], refuse: Refuse): string {
  const value = given(env[name]) ?? 'auto';
  if (!choices.includes(value)) refuse(name, `expected one of ${choices.join(', ')}`);
  return value;
}

function readModel(env: Environment, cwd: string): { choice: string; folder?: string } {
  const value = given(env.SLUICE_MODEL) ?? 'auto';
  if (['auto', 'hub', 'maven'].includes(value)) return { choice: value };
  const folder = absolutePath(cwd, value, env.HOME);
  return { choice: folder, folder };
}

function readLogLevel(flags: ConfigFlags, env: Environment, problems: Problem[]): LogLevel {
  const value = flags.logLevel ?? given(env.SLUICE_LOG_LEVEL) ?? 'info';
  const level = LOG_LEVELS.find((known) => known === value.toLowerCase());
  if (level !== undefined) return level;
  const origin = flags.logLevel === undefined ? 'environment' : 'command line';
  const path = flags.logLevel === undefined ? 'SLUICE_LOG_LEVEL' : '--log-level';
  problems.push({ origin, path, message: `expected one of ${LOG_LEVELS.join(', ')}` });
  return 'info';
}

export function readSwitch(env: Environment, name: string, refuse: Refuse): boolean {
  const value = (given(env[name]) ?? '0').toLowerCase();
  if (!['0', '1', 'true', 'false'].includes(value)) refuse(name, 'expected 1 or 0');
  return value === '1' || value === 'true';
}

function readNamespace(env: Environment, dataFolder: string, refuse: Refuse): string {
  const set = given(env.SLUICE_NAMESPACE);
  if (set !== undefined) {
    if (!NAMESPACE.test(set)) refuse('SLUICE_NAMESPACE', 'expected at most 40 letters and digits, first a letter');
    return set;
  }
  const kept = readKept(join(dataFolder, NAMESPACE_FILE));
  return kept ?? `sluice${sha256(canonicalPath(dataFolder)).slice(0, 10)}`;
}

function readKept(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return NAMESPACE.test(text) ? text : undefined;
  } catch {
    return undefined; // Not there: a new data folder.
  }
}
