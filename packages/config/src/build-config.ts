import type { ChunkingSettings, FieldType } from '@sluice/core';
import { accessLevelNames } from '@sluice/metadata';
import { toParseLimits } from '@sluice/parsers/settings';
import type { BareFolder } from './bare-folders.js';
import type { CheckedFile } from './check-file.js';
import { checkFolders, type SourceFolder } from './check-folders.js';
import type { Config, ConfigFlags, EmbeddingConfig, Environment, RuntimeConfig, SourceConfig } from './config.js';
import { absolutePath, pathKind } from './paths.js';
import type { Problem } from './problems.js';
import { given, readSwitch } from './runtime.js';
import { hostNameSchema } from './sections/api.js';
import { SECTIONS, type Section, type SectionName } from './sections/sections.js';

export interface BuildInput {
  flags: ConfigFlags;
  env: Environment;
  cwd: string;
  runtime: RuntimeConfig;
  folders: readonly BareFolder[] | undefined;
  checked: CheckedFile;
  problems: Problem[];
}

/** Puts the layers together. Problems that only the whole shows are added to `problems`; the result counts only where none are. */
export function buildConfig(input: BuildInput): Config {
  const { checked, env, runtime, problems } = input;
  const warnings: string[] = [];
  const { sources, folders } = buildSources(input, warnings);
  checkFolders(folders, runtime.dataFolder, (message) => warnings.push(message));
  const schema = section(checked, 'schema');
  const fields: Record<string, FieldType> = {};
  for (const source of sources) for (const [name, type] of Object.entries(source.fields)) fields[name] ??= type;
  const embedding = buildEmbedding(input, warnings);
  const queue = section(checked, 'queue');
  const store = section(checked, 'store');
  return {
    ...(checked.file === undefined ? {} : { file: checked.file }),
    sources,
    schema: {
      ...(schema.doc_types === undefined ? {} : { docTypes: schema.doc_types }),
      // A file that is silent is strict; without one everything is the user's own inbox.
      defaultSecurityLevel: schema.default_security_level ?? (checked.file === undefined ? 1 : 5),
      accessLevels: accessLevelNames(schema.access_levels),
      fields,
    },
    limits: toParseLimits(section(checked, 'limits')),
    queue: {
      concurrency: queue.concurrency,
      inFlightBytes: queue.in_flight_mb * 2 ** 20,
      largeBytes: queue.large_mb * 2 ** 20,
      slowMs: queue.slow_s * 1000,
      attempts: queue.attempts,
      backoffMs: queue.backoff_ms,
      lockMs: queue.lock_ms,
      stalledMs: queue.stalled_ms,
    },
    embedding,
    search: section(checked, 'search'),
    ...buildModels(checked, env, warnings),
    store: {
      readerGraceMs: store.reader_grace_ms,
      clockSkewMs: store.clock_skew_ms,
      keepPreviousMs: store.keep_previous_h * 3_600_000,
    },
    api: buildApi(input.flags, env, checked, problems),
    runtime: withModelFolder(runtime, embedding.path),
    warnings,
  };
}

function withModelFolder({ modelFolder: _fromEnvironment, ...runtime }: RuntimeConfig, path: string | undefined): RuntimeConfig {
  return { ...runtime, ...(path === undefined ? {} : { modelFolder: path }) };
}

function buildEmbedding({ runtime, checked, env }: BuildInput, warnings: string[]): EmbeddingConfig {
  const written = section(checked, 'embedding');
  const { base_url: baseUrl, dimensions } = written;
  const writtenPath = written.path == null ? undefined : absolutePath(checked.base, written.path, env.HOME);
  // SLUICE_MODEL names a model that runs here, so it wins over the file, but says nothing of an endpoint's.
  const path = baseUrl == null && runtime.provision.model !== 'auto' ? runtime.modelFolder : writtenPath;
  const key = keyOf(written.api_key_env, env);
  if (baseUrl != null && key.apiKeyEnv !== undefined && key.apiKey === undefined) {
    warnings.push(`embedding: ${key.apiKeyEnv} is not set, so the endpoint is asked without a key`);
  }
  return {
    model: written.model,
    threads: written.threads,
    ...(path === undefined ? {} : { path }),
    ...(written.max_tokens == null ? {} : { maxTokens: written.max_tokens }),
    ...(written.pooling == null ? {} : { pooling: written.pooling }),
    ...(written.passage_prefix == null ? {} : { passagePrefix: written.passage_prefix }),
    ...(written.query_prefix == null ? {} : { queryPrefix: written.query_prefix }),
    ...(baseUrl == null
      ? {}
      : {
          endpoint: {
            baseUrl,
            ...key,
            ...(dimensions == null ? {} : { dimensions }),
            batch: written.batch,
            concurrency: written.concurrency,
            timeoutMs: written.timeout_s * 1000,
            pricePerMillionTokens: written.price_per_million_tokens,
          },
        }),
  };
}

/** A section as checked; its defaults where the file has none, or a faulty one. */
function section<Name extends Exclude<SectionName, 'sources'>>(checked: CheckedFile, name: Name): Section<Name> {
  // Sound: what is kept under a name is what that section's schema gave.
  return (checked.sections[name] ?? SECTIONS[name].parse({})) as Section<Name>;
}

type CheckedSource = Section<'sources'>[number];

interface BuiltSources {
  sources: SourceConfig[];
  folders: SourceFolder[];
}

function buildSources(input: BuildInput, warnings: string[]): BuiltSources {
  const { checked, cwd, env, problems } = input;
  const listed = (checked.sections.sources ?? []) as CheckedSource[]; // what the schema of sources gave
  if (input.folders !== undefined) return buildNamed(input, input.folders, listed, warnings);
  // A file whose sources are faulty has its problems already; the inbox stands in for none.
  if (checked.sections.sources === undefined) {
    const path = absolutePath(checked.file === undefined ? cwd : checked.base, 'inbox', env.HOME);
    const source = buildSource(SECTIONS.sources.element.parse({ name: 'inbox', path }), path, input, warnings);
    const refuse = (message: string) => problems.push({ origin: 'default source', path: 'inbox', message });
    // The default is made when it is missing: not worth a line.
    return { sources: [source], folders: pathKind(path) === 'missing' ? [] : [{ name: 'inbox', path, refuse }] };
  }
  return {
    sources: listed.map((source) => buildSource(source, absolutePath(checked.base, source.path, env.HOME), input, warnings)),
    folders: checked.folders.map(({ name, path, index }) => ({
      name,
      path: absolutePath(checked.base, path, env.HOME),
      refuse: (message) => checked.report(['sources', index, 'path'], message),
    })),
  };
}

function buildNamed(
  input: BuildInput,
  named: readonly BareFolder[],
  listed: readonly CheckedSource[],
  warnings: string[],
): BuiltSources {
  const { problems } = input;
  const refuse = (path: string, message: string) => problems.push({ origin: 'command line', path, message });
  named.forEach(({ name }, at) => {
    if (named.slice(0, at).some((other) => other.name === name)) {
      refuse(name, 'is the name of another folder already: write NAME=FOLDER');
    }
  });
  return {
    sources: named.map(({ name, path }) => {
      const known = listed.find((source) => source.name === name) ?? SECTIONS.sources.element.parse({ name, path });
      return buildSource(known, path, input, warnings);
    }),
    folders: named.map(({ name, path }) => ({ name, path, refuse: (message) => refuse(name, message) })),
  };
}

function buildSource(source: CheckedSource, path: string, { checked, env }: BuildInput, warnings: string[]): SourceConfig {
  const absolute = (written: string) => absolutePath(checked.base, written, env.HOME);
  const passwords = readPasswords(source, env, warnings);
  return {
    name: source.name,
    path,
    include: source.include,
    exclude: source.exclude,
    polling: source.polling,
    stabilityMs: source.stability_ms,
    scanIntervalS: source.scan_interval_s,
    chunking: asChunking(source.chunking, absolute),
    metadata: source.metadata,
    fields: source.fields,
    ...(source.created_at === undefined ? {} : { createdAt: source.created_at }),
    ...(passwords === undefined ? {} : { passwords }),
    parsers: source.parsers,
    rules: source.rules.map(({ match, metadata, chunking }) => ({
      match,
      ...(metadata === undefined ? {} : { metadata }),
      ...(chunking === undefined ? {} : { chunking: asChunking(chunking, absolute) }),
    })),
  };
}

/** Settings as the chunking package checked them; members that are undefined are left out, so that equal settings have equal hashes. */
function asChunking(settings: CheckedSource['chunking'], absolute: (path: string) => string): ChunkingSettings {
  const members = Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key, key === 'prompt_file' && typeof value === 'string' ? absolute(value) : value]);
  return { ...Object.fromEntries(members), strategy: settings.strategy };
}

function readPasswords(source: CheckedSource, env: Environment, warnings: string[]): string[] | undefined {
  const variable = source.passwords?.env;
  if (variable === undefined) return undefined;
  const text = given(env[variable]);
  if (text === undefined) {
    warnings.push(`source "${source.name}": ${variable} is not set, so encrypted files fail with password_required`);
    return undefined;
  }
  try {
    const parsed: unknown = text.trimStart().startsWith('[') ? JSON.parse(text) : undefined;
    if (Array.isArray(parsed)) return parsed.filter((password) => typeof password === 'string');
  } catch {
    // A password may well begin with a bracket.
  }
  return text.split(/\r?\n/).filter((password) => password !== '');
}

function buildModels(checked: CheckedFile, env: Environment, warnings: string[]): Pick<Config, 'rerank' | 'llm' | 'eval'> {
  const { gate, baseline } = section(checked, 'eval');
  const built: Pick<Config, 'rerank' | 'llm' | 'eval'> = {
    eval: { gate, ...(baseline === undefined ? {} : { baseline: absolutePath(checked.base, baseline, env.HOME) }) },
  };
  if (checked.sections.rerank !== undefined) {
    const { model, path, base_url: baseUrl, api_key_env: keyEnv } = section(checked, 'rerank');
    built.rerank = {
      model,
      ...(path == null ? {} : { path: absolutePath(checked.base, path, env.HOME) }),
      ...(baseUrl == null ? {} : { baseUrl }),
      ...keyOf(keyEnv, env),
    };
  }
  const llm = checked.sections.llm === undefined ? undefined : section(checked, 'llm');
  if (llm?.base_url != null && llm.model != null) {
    built.llm = { baseUrl: llm.base_url, model: llm.model, ...keyOf(llm.api_key_env, env) };
    const { apiKeyEnv, apiKey } = built.llm;
    if (apiKeyEnv !== undefined && apiKey === undefined) {
      warnings.push(`llm: ${apiKeyEnv} is not set, so the endpoint is asked without a key`);
    }
  }
  return built;
}

function keyOf(variable: string | null | undefined, env: Environment): { apiKeyEnv?: string; apiKey?: string } {
  if (variable == null) return {};
  const apiKey = given(env[variable]);
  return { apiKeyEnv: variable, ...(apiKey === undefined ? {} : { apiKey }) };
}

function buildApi(flags: ConfigFlags, env: Environment, checked: CheckedFile, problems: Problem[]): Config['api'] {
  const api = section(checked, 'api');
  const port = flags.port ?? readPort(env, problems);
  const written = checked.sections.api !== undefined && checked.portIsWritten;
  return {
    host: flags.host ?? given(env.SLUICE_HOST) ?? api.host,
    port: port ?? api.port,
    portIsSet: port !== undefined || written,
    anonymous: api.anonymous,
    anonymousClearance: api.anonymous_clearance,
    corsOrigins: api.cors_origins,
    allowedHosts: [...api.allowed_hosts, ...readAllowedHosts(env, problems)],
    hostWithoutKey: readSwitch(env, 'SLUICE_HOST_WITHOUT_KEY', (path, message) =>
      problems.push({ origin: 'environment', path, message }),
    ),
    callsPerS: api.calls_per_s,
    callsBurst: api.calls_burst,
    callsAtOnce: api.calls_at_once,
    badKeysPerMin: api.bad_keys_per_min,
    badKeysBurst: api.bad_keys_burst,
    bodyBytes: api.body_kb * 1024,
  };
}

function readAllowedHosts(env: Environment, problems: Problem[]): string[] {
  const names = (given(env.SLUICE_ALLOWED_HOSTS) ?? '').split(',').map((name) => name.trim());
  const checked = hostNameSchema.array().safeParse(names.filter((name) => name !== ''));
  if (checked.success) return checked.data;
  problems.push({ origin: 'environment', path: 'SLUICE_ALLOWED_HOSTS', message: 'expected host names between commas' });
  return [];
}

function readPort(env: Environment, problems: Problem[]): number | undefined {
  const text = given(env.SLUICE_PORT);
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  problems.push({ origin: 'environment', path: 'SLUICE_PORT', message: 'expected a port of 0 to 65535' });
  return undefined;
}
