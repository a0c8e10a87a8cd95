import type { DocumentMetadata, FieldValue, Filter, Scalar } from '@sluice/core';
import { normalText } from './coercion.js';
import { ACCESS_RESTRICTED_FIELD } from './fields.js';

/** What a chunk's filterable values are beside its document's metadata. */
export interface ChunkIdentity {
  doc_id: string;
  source: string;
  source_path: string;
  kind: string;
  /** The chunk's own language, where it differs from the document's. */
  lang?: string | undefined;
}

/**
 * Every filterable field of a chunk that has a value, by its name, as a store indexes it: text in NFC, dates as ISO instants in UTC,
 * and the internal {@link ACCESS_RESTRICTED_FIELD}. Empty lists are kept; {@link setFieldsOf} tells which fields have a value.
 */
export function filterableValues(metadata: DocumentMetadata, chunk: ChunkIdentity): Record<string, FieldValue> {
  const { fields, allowed_groups: groups, lang, ...builtIn } = metadata;
  const values: Record<string, FieldValue> = {};
  for (const [name, value] of Object.entries(fields)) values[name] = value;
  for (const [name, value] of Object.entries(builtIn)) if (value !== undefined) values[name] = value;
  values.doc_id = normalText(chunk.doc_id);
  values.source = chunk.source;
  values.source_path = normalText(chunk.source_path);
  values.kind = chunk.kind;
  const language = chunk.lang ?? lang;
  if (language !== undefined) values.lang = language;
  values[ACCESS_RESTRICTED_FIELD] = groups !== undefined;
  if (groups !== undefined) values.allowed_groups = groups;
  return values;
}

/** Names of the fields that have a value in the sense of `$exists`: '' , 0 and false are values, [] is none. Sorted. */
export function setFieldsOf(values: Readonly<Record<string, FieldValue>>): string[] {
  return Object.keys(values)
    .filter((name) => name !== ACCESS_RESTRICTED_FIELD && hasValue(values[name]))
    .sort();
}

/**
 * The reference meaning of a filter: what every store must agree with. A comparison with a missing field is false, so a negation of it
 * is true; on lists `eq` and `in` mean contains.
 */
export function evaluateFilter(filter: Filter, values: Readonly<Record<string, FieldValue>>): boolean {
  switch (filter.op) {
    case 'const':
      return filter.value;
    case 'and':
      return filter.of.every((part) => evaluateFilter(part, values));
    case 'or':
      return filter.of.some((part) => evaluateFilter(part, values));
    case 'not':
      return !evaluateFilter(filter.of, values);
    case 'exists':
      return hasValue(fieldOf(values, filter.field)) === filter.value;
    case 'eq':
      return contains(fieldOf(values, filter.field), filter.value);
    case 'in':
      return filter.values.some((wanted) => contains(fieldOf(values, filter.field), wanted));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compares(filter.op, fieldOf(values, filter.field), filter.value);
  }
}

function fieldOf(values: Readonly<Record<string, FieldValue>>, name: string): FieldValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function hasValue(value: FieldValue | null | undefined): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function contains(value: FieldValue | undefined, wanted: Scalar): boolean {
  return Array.isArray(value) ? value.some((member) => member === wanted) : value === wanted;
}

function compares(op: 'gt' | 'gte' | 'lt' | 'lte', value: FieldValue | undefined, bound: Scalar): boolean {
  const order = orderOf(value, bound);
  if (order === undefined) return false;
  if (op === 'gt') return order > 0;
  if (op === 'gte') return order >= 0;
  return op === 'lt' ? order < 0 : order <= 0;
}

/** Numbers by size, dates (texts of one form) by their text; anything else has no order. */
function orderOf(value: FieldValue | undefined, bound: Scalar): number | undefined {
  if (typeof value === 'number' && typeof bound === 'number') return value - bound;
  if (typeof value === 'string' && typeof bound === 'string') return value < bound ? -1 : value > bound ? 1 : 0;
  return undefined;
}
