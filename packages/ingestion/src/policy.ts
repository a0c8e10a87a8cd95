import { type ChunkingSettings, type FieldType, hashOf, KEYWORD_VERSION, type ParseLimits } from '@sluice/core';
import { createPathRules, type MetadataRule, type MetadataSchema } from '@sluice/metadata';

/** What the configuration says of one source's documents. */
export interface SourcePolicy {
  name: string;
  chunking: ChunkingSettings;
  metadata: Readonly<Record<string, unknown>>;
  fields: Readonly<Record<string, FieldType>>;
  rules: readonly PolicyRule[];
  /** `mtime`: a document without a date of its own takes the file's. */
  createdAt?: 'mtime' | undefined;
  passwords?: readonly string[] | undefined;
  /** Settings of single formats, by format name. */
  parsers?: Readonly<Record<string, unknown>> | undefined;
}

interface PolicyRule extends MetadataRule {
  chunking?: ChunkingSettings | undefined;
}

/** Versions of what turns bytes into chunks: all part of the fingerprint. */
interface PolicyVersions {
  /** Grows when detection changes or a format is added: skipped and failed documents are then tried again. */
  registry: string | number;
  /** Version of a format's parser; 0 for a format that is not known. */
  parser(format: string): number;
  /** Identity of all that decides the chunks: settings, versions, and prompt and language model where one takes part. */
  chunker(settings: ChunkingSettings): string | number;
  /** Embedder's id: model, engine, pooling. */
  embedder: string;
}

interface PolicyOptions {
  sources: readonly SourcePolicy[];
  schema: MetadataSchema;
  limits: ParseLimits;
  versions: PolicyVersions;
}

/** What holds for one path. */
export interface DocumentPolicy {
  readonly chunking: ChunkingSettings;
  readonly limits: ParseLimits;
  readonly passwords: readonly string[] | undefined;
  readonly parsers: Readonly<Record<string, unknown>>;
  /** Everything the configuration says of this path's metadata. */
  readonly source: SourcePolicy;
  readonly schema: MetadataSchema;
  readonly matchingRules: readonly PolicyRule[];
  /** Hash of what the configuration says of metadata and access of this path. */
  readonly configHash: string;
  /** Hash of what decides how the file is read, for a process that has read it already. */
  readonly readKey: string;
  /**
   * Hash of everything but the content that decides the chunks, for a document of this format. With '' (failed or skipped: no parser
   * spoke) it covers whatever could fix the document: all parsers, limits, passwords.
   */
  fingerprint(format: string): string;
}

export interface Policy {
  /** @throws RangeError for a source that is not configured */
  of(source: string, path: string): DocumentPolicy;
}

/** Makes the one place that tells which settings hold for a path, so that the scan and the writer cannot differ. */
export function createPolicy(options: PolicyOptions): Policy {
  const sources = new Map(
    options.sources.map((source) => [
      source.name,
      { source, rules: createPathRules(source.rules), cache: new Map<string, DocumentPolicy>() },
    ]),
  );
  return {
    of(name, path) {
      const known = sources.get(name);
      if (known === undefined) throw new RangeError(`the source ${name} is not configured`);
      const matchingRules = known.rules.matching(path);
      // Documents of one source differ only in the rules that match them, so policies are shared by that.
      const key = matchingRules.map((rule) => known.source.rules.indexOf(rule)).join(',');
      let policy = known.cache.get(key);
      if (policy === undefined) {
        policy = makePolicy(options, known.source, matchingRules);
        known.cache.set(key, policy);
      }
      return policy;
    },
  };
}

function makePolicy(options: PolicyOptions, source: SourcePolicy, matchingRules: readonly PolicyRule[]): DocumentPolicy {
  const { versions, limits, schema } = options;
  const chunking = matchingRules.find((rule) => rule.chunking !== undefined)?.chunking ?? source.chunking;
  const chunkingKey = [versions.chunker(chunking), versions.embedder, KEYWORD_VERSION];
  const parsers = source.parsers ?? {};
  const anyFormat = hashOf(['any', versions.registry, limits, source.passwords ?? [], parsers, chunkingKey]).slice(0, 32);
  const fingerprints = new Map<string, string>([['', anyFormat]]);
  return {
    chunking,
    limits,
    passwords: source.passwords,
    parsers,
    source,
    schema,
    matchingRules,
    configHash: hashOf([
      source.metadata,
      source.fields,
      source.createdAt ?? null,
      matchingRules.map((rule) => rule.metadata ?? null),
      schema.docTypes ?? null,
      schema.defaultSecurityLevel,
      schema.accessLevels,
    ]).slice(0, 32),
    readKey: anyFormat,
    fingerprint(format) {
      let fingerprint = fingerprints.get(format);
      if (fingerprint === undefined) {
        fingerprint = hashOf([format, versions.parser(format), parsers[format] ?? null, chunkingKey]).slice(0, 32);
        fingerprints.set(format, fingerprint);
      }
      return fingerprint;
    },
  };
}
