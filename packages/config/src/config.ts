import type { ChunkingSettings, FieldType, ParseLimits, SecurityLevel } from '@sluice/core';
import type { MetadataSchema } from '@sluice/metadata';
import type { EndpointChoice } from '@sluice/models';
import type { ParserSettings } from '@sluice/parsers/settings';

/** A watched folder, as configured. Paths are absolute. */
export interface SourceConfig {
  name: string;
  path: string;
  include: string[];
  exclude: string[];
  polling: 'auto' | boolean;
  stabilityMs: number;
  scanIntervalS: number;
  chunking: ChunkingSettings;
  /** As written; {@link MetadataSchema} and `fields` give it meaning, and it is known to fit them. */
  metadata: Record<string, unknown>;
  /** Fields declared by this source. */
  fields: Record<string, FieldType>;
  createdAt?: 'mtime';
  /** Passwords of encrypted files, from the environment. Never log them. */
  passwords?: string[];
  /** Settings of single formats, by format name. */
  parsers: ParserSettings;
  rules: RuleConfig[];
}

interface RuleConfig {
  match: string[];
  metadata?: Record<string, unknown>;
  chunking?: ChunkingSettings;
}

export interface RuntimeConfig {
  /** Absolute path of the instance's data folder. */
  dataFolder: string;
  /** `<data>/log`, `<data>/metrics` and `<data>/sources`. */
  logFolder: string;
  metricsFolder: string;
  sourcesFolder: string;
  /** Set by the user or by the launcher; undefined: the launcher is to find or start one. May hold a password. */
  redisUrl?: string;
  weaviateUrl?: string;
  /** Of a Weaviate that wants a key (WEAVIATE_API_KEY). */
  weaviateApiKey?: string;
  /** Folder of the embedding model's files; undefined: the launcher is to find it. */
  modelFolder?: string;
  /** For the chaos harness alone: a folder in which files ask processes to kill or stop themselves (SLUICE_FAULTS). */
  faultsFolder?: string;
  /** Steps of the provisioning that are forced. */
  provision: { redis: string; weaviate: string; model: string };
  logLevel: LogLevel;
  /** No request leaves the machine. */
  offline: boolean;
  /** Short stable id of the instance: letters and digits, first a letter. Prefix of Redis keys and collection names. */
  namespace: string;
  /** For the CLI: where the API is, and the key to show it. */
  url?: string;
  apiKey?: string;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The embedding model. `path` is that of SLUICE_MODEL, else of the file: the folder of the model's files. */
export interface EmbeddingConfig {
  model: string;
  /** With `endpoint`: the folder of its model's tokenizer, from the file alone. */
  path?: string;
  threads: number | 'auto';
  maxTokens?: number;
  pooling?: 'mean' | 'cls' | 'last';
  passagePrefix?: string;
  queryPrefix?: string;
  /** `apiKeyEnv` names the variable that holds the key. */
  endpoint?: EndpointChoice & { apiKeyEnv?: string };
}

/** Everything that can be set, checked, with defaults applied: flags over environment over sluice.yaml over defaults. */
export interface Config {
  /** Absolute path of the configuration file; undefined when there is none. */
  file?: string;
  sources: SourceConfig[];
  /** What the configuration says of metadata; `fields` are those of all sources together: what filters may name. */
  schema: MetadataSchema & { fields: Record<string, FieldType> };
  limits: ParseLimits;
  queue: {
    concurrency: number;
    inFlightBytes: number;
    largeBytes: number;
    slowMs: number;
    attempts: number;
    backoffMs: number;
    lockMs: number;
    stalledMs: number;
  };
  embedding: EmbeddingConfig;
  search: { alpha: number; limit: number; candidates: number };
  rerank?: { model: string; path?: string; baseUrl?: string; apiKeyEnv?: string; apiKey?: string };
  llm?: { baseUrl: string; model: string; apiKeyEnv?: string; apiKey?: string };
  eval: { baseline?: string; gate: Record<string, number> };
  store: { readerGraceMs: number; clockSkewMs: number; keepPreviousMs: number };
  api: {
    host: string;
    port: number;
    /** False: the port is the default one, and the next free one will do. */
    portIsSet: boolean;
    anonymous: boolean;
    anonymousClearance: SecurityLevel;
    corsOrigins: string[];
    /** Names by which the API may be called, beside loopback, `host` and the address that a call came in at. */
    allowedHosts: string[];
    /** For containers (SLUICE_HOST_WITHOUT_KEY): binds `host` though no key exists. */
    hostWithoutKey: boolean;
    callsPerS: number;
    callsBurst: number;
    callsAtOnce: number;
    badKeysPerMin: number;
    badKeysBurst: number;
    bodyBytes: number;
  };
  runtime: RuntimeConfig;
  /** What works but is worth a line at start. */
  warnings: string[];
}

/** What the command line may say. */
export interface ConfigFlags {
  /** Bare folders, as `docs=/a/docs` or `/b/notes`: the sources, in place of those of the file. */
  sources?: readonly string[] | undefined;
  /** Path of the configuration file. */
  config?: string | undefined;
  /** Path of the data folder. */
  data?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  logLevel?: string | undefined;
  url?: string | undefined;
  apiKey?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;
