import type { FieldType } from '@sluice/core';
import { accessLevelNames, checkMetadata, type MetadataSchema } from '@sluice/metadata';
import { fieldsSchema, schemaSettings } from '@sluice/metadata/settings';
import { pathKind } from './paths.js';
import type { Path } from './problems.js';

/** Reports a problem at a path of the file. */
export type Report = (path: Path, message: string) => void;

type Mapping = Readonly<Record<string, unknown>>;

/** What else the file says, as written. */
export interface Surroundings {
  schema: unknown;
  llm: unknown;
  /** Absolute form of a path of the file. */
  absolute(path: string): string;
}

/**
 * What no single value shows: names used twice, one field with two types, metadata that does not fit the declared fields, strategies
 * without what they need. Works on the values as written, so that a fault elsewhere hides none of these.
 */
export function checkSources(sources: readonly unknown[], file: Surroundings, report: Report): void {
  const schema = readSchema(file.schema);
  const names = new Map<string, number>();
  const types = new Map<string, { type: FieldType; source: string }>();
  sources.forEach((entry, at) => {
    if (!isMapping(entry)) return;
    const path: Path = ['sources', at];
    const name = typeof entry.name === 'string' ? entry.name : `sources[${at}]`;
    const earlier = names.get(name);
    if (earlier !== undefined) report([...path, 'name'], `${name} is the name of sources[${earlier}] already`);
    else names.set(name, at);

    const fields = fieldsSchema.safeParse(entry.fields ?? {});
    const declared = fields.success ? fields.data : {};
    for (const [field, type] of Object.entries(declared)) {
      const other = types.get(field);
      if (other === undefined) types.set(field, { type, source: name });
      else if (other.type !== type) {
        report([...path, 'fields', field], `is ${type} here and ${other.type} in ${other.source}: one field has one type`);
      }
    }
    checkSettings(entry, path, file, report);
    if (fields.success) checkValues(entry.metadata, declared, schema, [...path, 'metadata'], report);
    if (!Array.isArray(entry.rules)) return;
    entry.rules.forEach((rule: unknown, index) => {
      if (!isMapping(rule)) return;
      const rulePath: Path = [...path, 'rules', index];
      checkSettings(rule, rulePath, file, report);
      if (fields.success) checkValues(rule.metadata, declared, schema, [...rulePath, 'metadata'], report);
    });
  });
}

function checkSettings(entry: Mapping, path: Path, { llm, absolute }: Surroundings, report: Report): void {
  const chunking = isMapping(entry.chunking) ? entry.chunking : {};
  if (chunking.strategy !== 'propositions') return;
  if (!isMapping(llm) || llm.base_url == null || llm.model == null) {
    report([...path, 'chunking', 'strategy'], 'propositions needs a language model: set llm.base_url and llm.model');
  }
  if (typeof chunking.prompt_file === 'string' && pathKind(absolute(chunking.prompt_file)) !== 'file') {
    report([...path, 'chunking', 'prompt_file'], `no file ${chunking.prompt_file}`);
  }
}

function checkValues(
  metadata: unknown,
  fields: Record<string, FieldType>,
  schema: MetadataSchema,
  path: Path,
  report: Report,
): void {
  if (!isMapping(metadata)) return;
  for (const { field, message } of checkMetadata(metadata, fields, schema)) report([...path, field], message);
}

function readSchema(section: unknown): MetadataSchema {
  const parsed = schemaSettings.safeParse(section ?? {});
  const { doc_types: docTypes, access_levels: levels } = parsed.success ? parsed.data : {};
  return {
    ...(docTypes === undefined ? {} : { docTypes }),
    defaultSecurityLevel: 5,
    accessLevels: accessLevelNames(levels),
  };
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
