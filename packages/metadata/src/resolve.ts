import { type DocumentMetadata, type FieldType, type FieldValue, SluiceError } from '@sluice/core';
import { ACCESS_NAMES, readAccess, resolveAccess, shown } from './access.js';
import { cleanText, coerce } from './coercion.js';
import { isoInstant } from './dates.js';
import {
  configuredLayers,
  fileLayers,
  type Layer,
  type MetadataInput,
  type MetadataSchema,
  type Origin,
  ownValue,
} from './layers.js';

/** Built-in fields that a document, a rule or a source may set, with their types; access is apart ({@link resolveAccess}). */
const SETTABLE = {
  doc_title: 'text',
  doc_type: 'text',
  category: 'text',
  author: 'text',
  tags: 'text[]',
  version: 'text',
  created_at: 'date',
  lang: 'text',
} as const satisfies Record<string, FieldType>;

/** Other names under which a field is read, the first that is there first. A declared field of that name is itself. */
const ALIASES: Readonly<Record<string, readonly string[]>> = { doc_title: ['title'], created_at: ['date', 'created'] };

/** `doc_type` is a short text. */
const MAX_DOC_TYPE = 100;

export interface ResolvedMetadata {
  metadata: DocumentMetadata;
  /** `undeclared_field: NAME` for front matter that is not indexed, `self_metadata_ignored: NAME` for what did not fit. */
  warnings: string[];
  /** Who said each field that has a value. */
  origins: Record<string, Origin>;
  /** Front matter and sidecar values under names that are not declared: kept with the document, not filterable. */
  extra: Record<string, unknown>;
}

/**
 * Metadata of one document. Field by field, lists too, the first that speaks wins: front matter, sidecar, path rules in their order,
 * the source, what the document says of itself, then the file's mtime where the source asks for it. null says nothing. Access is that
 * of {@link resolveAccess}. `doc_title` is else the file's name, `doc_type` is else `document`.
 *
 * @throws SluiceError `invalid_metadata` naming field and value when something that a person wrote does not fit
 */
export function resolveMetadata(input: MetadataInput): ResolvedMetadata {
  const access = resolveAccess(input);
  const warnings: string[] = [];
  const origins: Record<string, Origin> = { ...access.origins };
  const written = [...fileLayers(input), ...configuredLayers(input)];

  const builtIn: Partial<Record<keyof typeof SETTABLE, FieldValue>> = {};
  const fields: Record<string, FieldValue> = {};
  const types: [string, FieldType][] = [...Object.entries(SETTABLE), ...Object.entries(input.fields)];
  for (const [name, type] of types) {
    const found = firstWritten(name, type, written, input) ?? fromDocument(name, type, input, warnings);
    if (found === undefined) continue;
    origins[name] = found.origin;
    if (Object.hasOwn(SETTABLE, name)) builtIn[name as keyof typeof SETTABLE] = found.value;
    else fields[name] = found.value;
  }

  const { doc_title: title, doc_type: type, created_at: createdAt, tags, ...texts } = builtIn as BuiltInValues;
  if (title === undefined) origins.doc_title = 'file name';
  if (type === undefined) origins.doc_type = 'default';
  if (createdAt !== undefined) origins.created_ts = origins.created_at ?? 'default';
  const metadata: DocumentMetadata = {
    doc_title: title ?? cleanText(input.sourcePath.slice(input.sourcePath.lastIndexOf('/') + 1)),
    doc_type: type ?? 'document',
    ...texts,
    tags: tags ?? [],
    ...(createdAt === undefined ? {} : { created_at: createdAt, created_ts: Math.floor(Date.parse(createdAt) / 1000) }),
    security_level: access.security_level,
    ...(access.allowed_groups === undefined ? {} : { allowed_groups: access.allowed_groups }),
    fields,
  };
  const extra = undeclared(input, warnings);
  return { metadata, warnings, origins, extra };
}

/** What coerce() made of the settable fields, by their types above. */
interface BuiltInValues {
  doc_title?: string;
  doc_type?: string;
  category?: string;
  author?: string;
  tags?: string[];
  version?: string;
  created_at?: string;
  lang?: string;
}

interface Found {
  value: FieldValue;
  origin: Origin;
}

function firstWritten(name: string, type: FieldType, layers: readonly Layer[], input: MetadataInput): Found | undefined {
  for (const layer of layers) {
    for (const key of namesOf(name, input.fields)) {
      const raw = ownValue(layer.values, key);
      if (raw === undefined || raw === null) continue;
      return { value: fit(name, key, type, raw, layer.origin, input.schema), origin: layer.origin };
    }
  }
  return undefined;
}

function namesOf(name: string, declared: MetadataInput['fields']): string[] {
  const aliases = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [];
  return [name, ...aliases.filter((alias) => !Object.hasOwn(declared, alias))];
}

function fit(name: string, key: string, type: FieldType, raw: unknown, origin: Origin, schema: MetadataSchema): FieldValue {
  const expected = check(name, type, raw, schema);
  if (expected.ok) return expected.value;
  throw new SluiceError('invalid_metadata', `${key} is ${shown(raw)} (${origin}); expected ${expected.expected}`, {
    details: { field: key, value: shown(raw), origin, access: false },
  });
}

function check(name: string, type: FieldType, raw: unknown, schema: MetadataSchema): ReturnType<typeof coerce> {
  const coerced = coerce(type, raw);
  if (!coerced.ok) return coerced;
  if (name === 'lang') return { ok: true, value: languageCode(String(coerced.value)) };
  if (name !== 'doc_type') return coerced;
  const value = String(coerced.value).trim();
  if (value === '' || value.length > MAX_DOC_TYPE) return { ok: false, expected: `a text of 1 to ${MAX_DOC_TYPE} characters` };
  if (schema.docTypes !== undefined && !schema.docTypes.includes(value)) {
    return { ok: false, expected: `one of ${schema.docTypes.join(', ')}` };
  }
  return { ok: true, value };
}

/** `en-US` and `EN` are the language `en`: what a filter on lang means. Other words stay as they are. */
function languageCode(text: string): string {
  const match = /^([A-Za-z]{2,3})(?:[-_][A-Za-z0-9_-]*)?$/.exec(text.trim());
  return match?.[1]?.toLowerCase() ?? text.trim();
}

function fromDocument(name: string, type: FieldType, input: MetadataInput, warnings: string[]): Found | undefined {
  for (const key of namesOf(name, input.fields)) {
    const raw = input.self === undefined ? undefined : ownValue(input.self, key);
    if (raw === undefined || raw === null || raw === '') continue;
    const value = check(name, type, raw, input.schema);
    if (value.ok) return { value: value.value, origin: 'document' };
    warnings.push(`self_metadata_ignored: ${name}`);
  }
  if (name === 'lang' && input.lang !== undefined) return { value: languageCode(input.lang), origin: 'document' };
  if (name === 'created_at' && input.mtimeMs !== undefined) {
    return { value: isoInstant(Math.floor(input.mtimeMs)), origin: 'mtime' };
  }
  return undefined;
}

const MAX_UNDECLARED_WARNINGS = 50;

function undeclared(input: MetadataInput, warnings: string[]): Record<string, unknown> {
  const known = knownNames(input.fields);
  const extra = new Map<string, unknown>();
  for (const layer of fileLayers(input)) {
    for (const [key, value] of Object.entries(layer.values)) if (!known.has(key) && !extra.has(key)) extra.set(key, value);
  }
  const names = [...extra.keys()].map((name) => cleanText(name).slice(0, 100));
  for (const name of names.slice(0, MAX_UNDECLARED_WARNINGS)) warnings.push(`undeclared_field: ${name}`);
  const more = names.length - MAX_UNDECLARED_WARNINGS;
  if (more > 0) warnings.push(`undeclared_field: and ${more} more`);
  return Object.fromEntries(extra);
}

function knownNames(declared: MetadataInput['fields']): Set<string> {
  return new Set([...Object.keys(SETTABLE), ...Object.values(ALIASES).flat(), ...ACCESS_NAMES, ...Object.keys(declared)]);
}

/**
 * All that is wrong with metadata written in a configuration (of a source or a rule): fields that are not declared, values that do not
 * fit. For the configuration's own report, so that no document fails by it.
 */
export function checkMetadata(
  values: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, FieldType>>,
  schema: MetadataSchema,
): { field: string; message: string }[] {
  const problems: { field: string; message: string }[] = [];
  const known = knownNames(fields);
  for (const [field, raw] of Object.entries(values)) {
    if (!known.has(field)) {
      problems.push({ field, message: `is not a field: declare it under fields, or use one of ${[...known].join(', ')}` });
      continue;
    }
    if (ACCESS_NAMES.has(field)) {
      try {
        readAccess({ origin: 'source', values: { [field]: raw } }, schema.accessLevels);
      } catch (thrown) {
        problems.push({ field, message: thrown instanceof Error ? thrown.message.replace(' (source)', '') : String(thrown) });
      }
      continue;
    }
    if (raw === null) continue;
    const name = Object.keys(ALIASES).find((target) => namesOf(target, fields).includes(field)) ?? field;
    const type = Object.hasOwn(fields, field) ? fields[field] : SETTABLE[name as keyof typeof SETTABLE];
    const value = type === undefined ? undefined : check(name, type, raw, schema);
    if (value?.ok === false) problems.push({ field, message: `is ${shown(raw)}; expected ${value.expected}` });
  }
  return problems;
}
