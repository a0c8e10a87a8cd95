import type { FieldType } from '@sluice/core';
import { accessLevelNames, checkMetadata, type MetadataSchema } from '@sluice/metadata';
import { fieldsSchema, schemaSettings } from '@sluice/metadata/settings';
import type { Path } from './problems.js';
import { UNBUILT_STRATEGIES } from './unbuilt.js';

/** Reports a problem at a path of the file. */
export type Report = (path: Path, message: string) => void;

type Mapping = Readonly<Record<string, unknown>>;

/**
 * What no single value shows: names used twice, one field with two types, metadata that does not fit the declared fields, strategies that
 * are not built. Works on the values as written, so that a fault elsewhere hides none of these.
 */
export function checkSources(sources: readonly unknown[], section: unknown, report: Report): void {
  const schema = readSchema(section);
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
    checkSettings(entry, path, report);
    if (fields.success) checkValues(entry.metadata, declared, schema, [...path, 'metadata'], report);
    if (!Array.isArray(entry.rules)) return;
    entry.rules.forEach((rule: unknown, index) => {
      if (!isMapping(rule)) return;
      const rulePath: Path = [...path, 'rules', index];
      checkSettings(rule, rulePath, report);
      if (fields.success) checkValues(rule.metadata, declared, schema, [...rulePath, 'metadata'], report);
    });
  });
}

function checkSettings(entry: Mapping, path: Path, report: Report): void {
  const strategy = isMapping(entry.chunking) ? entry.chunking.strategy : undefined;
  if (typeof strategy === 'string' && UNBUILT_STRATEGIES.has(strategy)) {
    report([...path, 'chunking', 'strategy'], `${strategy} is not built yet in this version; choose another strategy`);
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
