import type { FieldType, SecurityLevel, SelfMetadata } from '@sluice/core';

/** What the whole configuration says of metadata. */
export interface MetadataSchema {
  /** Values that `doc_type` may have; undefined: any short text. */
  docTypes?: readonly string[];
  /** Level of documents whose source has none. */
  defaultSecurityLevel: SecurityLevel;
  /** Names that `access_level` takes, as `public` for 1. */
  accessLevels: Readonly<Record<string, SecurityLevel>>;
}

/** Metadata that a path rule sets. */
export interface MetadataRule {
  match: readonly string[];
  metadata?: Readonly<Record<string, unknown>>;
}

/** Everything that speaks of one document. */
export interface MetadataInput {
  /** Relative to the source's root, with `/`. */
  sourcePath: string;
  schema: MetadataSchema;
  /** Fields that this source declares. */
  fields: Readonly<Record<string, FieldType>>;
  /** `metadata` of the source in the configuration. */
  sourceMetadata?: Readonly<Record<string, unknown>>;
  /** The rules that match this path, in the order of the configuration: createPathRules(...).matching(path). */
  matchingRules?: readonly MetadataRule[];
  frontMatter?: Readonly<Record<string, unknown>>;
  sidecar?: Readonly<Record<string, unknown>>;
  /** What the document says of itself, by its parser. */
  self?: SelfMetadata;
  /** Language that was recognised in the text: the last word on `lang`. */
  lang?: string;
  /** The file's mtime in Unix milliseconds; given only for sources with `created_at: mtime`. */
  mtimeMs?: number;
}

/** Who said a field: `rule GLOB` names the rule by its first glob. */
export type Origin = 'front matter' | 'sidecar' | `rule ${string}` | 'source' | 'document' | 'mtime' | 'file name' | 'default';

export interface Layer {
  origin: Origin;
  values: Readonly<Record<string, unknown>>;
}

/** Layers written by the file's owner, the first to speak first: front matter before the sidecar. */
export function fileLayers(input: Pick<MetadataInput, 'frontMatter' | 'sidecar'>): Layer[] {
  const layers: Layer[] = [];
  if (input.frontMatter !== undefined) layers.push({ origin: 'front matter', values: input.frontMatter });
  if (input.sidecar !== undefined) layers.push({ origin: 'sidecar', values: input.sidecar });
  return layers;
}

/** Layers written in the configuration: matching rules in their order, then the source. */
export function configuredLayers(input: Pick<MetadataInput, 'matchingRules' | 'sourceMetadata'>): Layer[] {
  const layers: Layer[] = [];
  for (const rule of input.matchingRules ?? []) {
    if (rule.metadata !== undefined) layers.push({ origin: `rule ${rule.match[0] ?? ''}`, values: rule.metadata });
  }
  if (input.sourceMetadata !== undefined) layers.push({ origin: 'source', values: input.sourceMetadata });
  return layers;
}

/** The value of an own member, or undefined: names from files may be those of Object.prototype. */
export function ownValue(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
