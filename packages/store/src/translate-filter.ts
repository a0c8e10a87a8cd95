import { type FieldType, type Filter, type Scalar, SluiceError, sha256 } from '@sluice/core';
import { ACCESS_RESTRICTED_FIELD, BUILT_IN_FIELDS, SET_FIELDS_FIELD } from '@sluice/metadata';
import { exactText } from './exact-text.js';
import { literal, literals } from './graphql.js';
import { fieldProperty } from './names.js';

/** A filterable property of chunks: its name in the store and its type. */
export interface FilterProperty {
  property: string;
  type: FieldType;
}

/** Filterable fields of chunks by the name people use: the built-in ones, the internal one for access, and the declared ones. */
export function filterProperties(declared: Readonly<Record<string, FieldType>>): Map<string, FilterProperty> {
  const properties = new Map<string, FilterProperty>();
  for (const [name, type] of Object.entries(declared)) properties.set(name, { property: fieldProperty(name, type), type });
  for (const [name, type] of Object.entries(BUILT_IN_FIELDS)) properties.set(name, { property: name, type });
  properties.set(ACCESS_RESTRICTED_FIELD, { property: ACCESS_RESTRICTED_FIELD, type: 'boolean' });
  return properties;
}

/** Matches nothing: every object has this property, and no object has this value. */
const NOTHING = `{path:["doc_uuid"],operator:Equal,valueText:"-"}`;
const EVERYTHING = not(NOTHING);

export function and(parts: readonly string[]): string {
  return combine('And', parts);
}

export function or(parts: readonly string[]): string {
  return combine('Or', parts);
}

export function not(part: string): string {
  return `{operator:Not,operands:[${part}]}`;
}

/** Texts as they are, for ids and hashes. */
export function anyOf(property: string, values: readonly string[]): string {
  return values.length === 0 ? NOTHING : `{path:["${property}"],operator:ContainsAny,valueText:${literals(values)}}`;
}

function combine(operator: 'And' | 'Or', parts: readonly string[]): string {
  const [first] = parts;
  if (first === undefined) return operator === 'And' ? EVERYTHING : NOTHING;
  return parts.length === 1 ? first : `{operator:${operator},operands:[${parts.join(',')}]}`;
}

/**
 * A filter as Weaviate's `where`. `ne`, `nin` and `not` come as a negation of what matches, so they are exact complements: objects without
 * the field are among them. Null and length indexes are not used: they take '' and [] for null, so a list of the fields set is stored.
 *
 * @throws SluiceError `invalid_filter` for a field that is not stored: a condition is never dropped
 */
export function translateFilter(filter: Filter, properties: ReadonlyMap<string, FilterProperty>): string {
  const translate = (part: Filter): string => {
    switch (part.op) {
      case 'const':
        return part.value ? EVERYTHING : NOTHING;
      case 'and':
        return and(part.of.map(translate));
      case 'or':
        return or(part.of.map(translate));
      case 'not':
        return not(translate(part.of));
      case 'exists': {
        propertyOf(part.field);
        const set = `{path:["${SET_FIELDS_FIELD}"],operator:Equal,valueText:${literal(part.field)}}`;
        return part.value ? set : not(set);
      }
      case 'eq':
        return compare(propertyOf(part.field), 'Equal', part.value);
      case 'in':
        return isIn(propertyOf(part.field), part.values);
      case 'gt':
        return compare(propertyOf(part.field), 'GreaterThan', part.value);
      case 'gte':
        return compare(propertyOf(part.field), 'GreaterThanEqual', part.value);
      case 'lt':
        return compare(propertyOf(part.field), 'LessThan', part.value);
      case 'lte':
        return compare(propertyOf(part.field), 'LessThanEqual', part.value);
    }
  };
  const propertyOf = (field: string): FilterProperty => {
    const property = properties.get(field);
    if (property === undefined) throw new SluiceError('invalid_filter', `the store has no filterable field ${field}`);
    return property;
  };
  return translate(filter);
}

function isIn(property: FilterProperty, values: readonly Scalar[]): string {
  if (isText(property.type)) {
    // A value of another type equals no text.
    const texts = values.filter((value) => typeof value === 'string').map((value) => exactText(value, sha256));
    return anyOf(property.property, texts);
  }
  return or([...new Set(values)].map((value) => compare(property, 'Equal', value)));
}

function isText(type: FieldType): boolean {
  return type === 'text' || type === 'text[]';
}

type Comparison = 'Equal' | 'GreaterThan' | 'GreaterThanEqual' | 'LessThan' | 'LessThanEqual';

function compare({ property, type }: FilterProperty, operator: Comparison, value: Scalar): string {
  const typed = typedValue(type, value);
  return typed === undefined ? NOTHING : `{path:["${property}"],operator:${operator},${typed}}`;
}

/** The value in the store's notation; undefined when it is of another type than the field, which no stored value then equals. */
function typedValue(type: FieldType, value: Scalar): string | undefined {
  switch (type) {
    case 'text':
    case 'text[]':
      return typeof value === 'string' ? `valueText:${literal(exactText(value, sha256))}` : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? `valueBoolean:${value}` : undefined;
    case 'date':
      return typeof value === 'string' ? `valueDate:${literal(value)}` : undefined;
    case 'int':
      return typeof value === 'number' && Number.isInteger(value) ? `valueInt:${value}` : undefined;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? `valueNumber:${value}` : undefined;
  }
}
