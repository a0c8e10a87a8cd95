import { type Filter, type Scalar, SluiceError } from '@sluice/core';
import { normalText } from './coercion.js';
import { isoInstant, parseDate } from './dates.js';
import type { CatalogField, FieldCatalog } from './fields.js';

/** Most combinations ($and, $or, $not) within each other. */
const MAX_FILTER_DEPTH = 10;
/** Most comparisons in one filter. */
const MAX_FILTER_CONDITIONS = 100;
/** Most values of one $in or $nin. */
const MAX_FILTER_VALUES = 1_000;
/** Most values of all lists together: each becomes a clause of the store's query, of some 100 bytes. */
const MAX_ALL_VALUES = 5_000;
/** Most objects and lists of $and, $or and $not: empty ones hold no condition. */
const MAX_FILTER_NODES = 1_000;

const COMPARISONS = ['$eq', '$ne', '$in', '$nin', '$gt', '$gte', '$lt', '$lte', '$exists'] as const;
type Comparison = (typeof COMPARISONS)[number];

interface Compilation {
  catalog: FieldCatalog;
  conditions: number;
  values: number;
  nodes: number;
}

/** A place in the filter, for messages, as `filter.$or[1].year.$gt`. */
interface Place {
  path: string;
  depth: number;
}

/**
 * Checks a filter as a request gives it (INTERFACES 4, docs/filters.md) and turns it into comparisons. Negations are exact complements
 * (`not`), spans of dates become bounds, text is normalised to NFC.
 *
 * @throws SluiceError `invalid_filter` with `details.path`, and field or operator where one is at fault: nothing is dropped silently
 */
export function compileFilter(json: unknown, catalog: FieldCatalog): Filter {
  return compileObject(json, { path: 'filter', depth: 0 }, { catalog, conditions: 0, values: 0, nodes: 0 });
}

function compileObject(json: unknown, place: Place, run: Compilation): Filter {
  if (!isObject(json)) throw invalid(place.path, `must be an object, not ${kindOf(json)}`);
  run.nodes += 1;
  if (run.nodes > MAX_FILTER_NODES) throw invalid('filter', `has more than ${MAX_FILTER_NODES} objects`);
  const parts: Filter[] = [];
  for (const [key, value] of Object.entries(json)) {
    const inner = { path: `${place.path}.${key}`, depth: place.depth };
    parts.push(key.startsWith('$') ? compileCombination(key, value, inner, run) : compileField(key, value, inner, run));
  }
  return all(parts);
}

function compileCombination(operator: string, value: unknown, place: Place, run: Compilation): Filter {
  const depth = place.depth + 1;
  if (depth > MAX_FILTER_DEPTH) throw invalid(place.path, `is nested deeper than ${MAX_FILTER_DEPTH}`, { operator });
  switch (operator) {
    case '$and':
    case '$or': {
      if (!Array.isArray(value)) throw invalid(place.path, `needs a list of filters, not ${kindOf(value)}`, { operator });
      if (operator === '$or' && value.length === 0) throw invalid(place.path, 'is an empty list', { operator });
      // Conditions alone do not bound a list of empty objects.
      if (value.length > MAX_FILTER_VALUES) throw invalid(place.path, `has more than ${MAX_FILTER_VALUES} members`, { operator });
      const parts = value.map((member, index) => compileObject(member, { path: `${place.path}[${index}]`, depth }, run));
      return operator === '$and' ? all(parts) : any(parts);
    }
    case '$not':
      if (isObject(value) && Object.keys(value).length === 0) throw invalid(place.path, 'is empty', { operator });
      return { op: 'not', of: compileObject(value, { path: place.path, depth }, run) };
    default: {
      const hint = (COMPARISONS as readonly string[]).includes(operator)
        ? `write it under a field, as {"year": {"${operator}": ...}}`
        : '';
      throw invalid(place.path, `is no combination ($and, $or, $not)${hint === '' ? '' : `: ${hint}`}`, { operator });
    }
  }
}

function compileField(name: string, value: unknown, place: Place, run: Compilation): Filter {
  const field = run.catalog.get(name);
  if (field === undefined) {
    throw invalid(place.path, `: no field ${JSON.stringify(name.slice(0, 100))}. Fields: ${[...run.catalog.keys()].join(', ')}`, {
      field: name,
    });
  }
  if (value === null || Array.isArray(value)) {
    const hint = value === null ? '{"$exists": false}' : '{"$in": [...]}';
    throw invalid(place.path, `must be a value or operators, not ${kindOf(value)}; write ${hint}`, { field: name });
  }
  if (!isObject(value)) return compileComparison(name, field, '$eq', value, place, run);
  return compileOperators(name, field, value, place, run);
}

function compileOperators(
  name: string,
  field: CatalogField,
  value: Record<string, unknown>,
  place: Place,
  run: Compilation,
): Filter {
  const entries = Object.entries(value);
  if (entries.length === 0) throw invalid(place.path, 'has no operator', { field: name });
  return all(
    entries.map(([operator, operand]) => {
      const inner = { path: `${place.path}.${operator}`, depth: place.depth + 1 };
      if (operator === '$not') {
        if (inner.depth > MAX_FILTER_DEPTH) throw invalid(inner.path, `is nested deeper than ${MAX_FILTER_DEPTH}`, { operator });
        if (!isObject(operand)) throw invalid(inner.path, `needs operators, not ${kindOf(operand)}`, { field: name, operator });
        return { op: 'not', of: compileOperators(name, field, operand, inner, run) };
      }
      if (!isComparison(operator)) {
        throw invalid(
          inner.path,
          `: no operator ${JSON.stringify(operator.slice(0, 100))}. Operators: ${COMPARISONS.join(', ')}, $not`,
          {
            field: name,
            operator,
          },
        );
      }
      return compileComparison(name, field, operator, operand, { path: inner.path, depth: place.depth }, run);
    }),
  );
}

function compileComparison(
  name: string,
  field: CatalogField,
  operator: Comparison,
  operand: unknown,
  place: Place,
  run: Compilation,
): Filter {
  run.conditions += 1;
  if (run.conditions > MAX_FILTER_CONDITIONS) throw invalid('filter', `has more than ${MAX_FILTER_CONDITIONS} conditions`);
  const at = (message: string) => invalid(place.path, message, { field: name, operator });
  switch (operator) {
    case '$exists':
      if (typeof operand !== 'boolean') throw at(`needs true or false, not ${kindOf(operand)}`);
      return { op: 'exists', field: name, value: operand };
    case '$eq':
      return equals(name, field, operand, at);
    case '$ne':
      return negate(equals(name, field, operand, at));
    case '$in':
    case '$nin': {
      if (!Array.isArray(operand)) throw at(`needs a list, not ${kindOf(operand)}`);
      if (operand.length > MAX_FILTER_VALUES) throw at(`has more than ${MAX_FILTER_VALUES} values`);
      run.values += operand.length;
      if (run.values > MAX_ALL_VALUES) throw invalid('filter', `has more than ${MAX_ALL_VALUES} values in its lists together`);
      const among = isAmong(name, field, operand, at);
      return operator === '$in' ? among : negate(among);
    }
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return bound(name, field, operator, operand, at);
  }
}

type Fault = (message: string) => SluiceError;

function equals(field: string, { type }: CatalogField, operand: unknown, fault: Fault): Filter {
  if (type !== 'date') return { op: 'eq', field, value: scalar(type, operand, fault) };
  const span = dateOf(operand, fault);
  if (span.end === span.start) return { op: 'eq', field, value: isoInstant(span.start) };
  return all([
    { op: 'gte', field, value: isoInstant(span.start) },
    // The end of the last year has five digits, which no text comparison orders: without an end it is the same.
    ...(span.end > LAST ? [] : [{ op: 'lt', field, value: isoInstant(span.end) } as const]),
  ]);
}

function isAmong(field: string, described: CatalogField, operands: readonly unknown[], fault: Fault): Filter {
  const filters = operands.map((operand) => equals(field, described, operand, fault));
  const values = new Set<Scalar>();
  const spans: Filter[] = [];
  for (const filter of filters) {
    if (filter.op === 'eq') values.add(filter.value);
    else spans.push(filter);
  }
  return any(values.size === 0 ? spans : [{ op: 'in', field, values: [...values] }, ...spans]);
}

function bound(
  field: string,
  { type }: CatalogField,
  operator: '$gt' | '$gte' | '$lt' | '$lte',
  operand: unknown,
  fault: Fault,
): Filter {
  if (type === 'text' || type === 'boolean') throw fault('needs a number or a date field');
  if (type !== 'date') return { op: BOUNDS[operator], field, value: scalar(type, operand, fault) };
  const { start, end } = dateOf(operand, fault);
  if (start === end) return { op: BOUNDS[operator], field, value: isoInstant(start) };
  if (operator === '$gte') return { op: 'gte', field, value: isoInstant(start) };
  if (operator === '$lt') return { op: 'lt', field, value: isoInstant(start) };
  // Behind the span, or within or before it: its end does not belong to it.
  if (end > LAST) return operator === '$gt' ? { op: 'const', value: false } : { op: 'exists', field, value: true };
  return { op: operator === '$gt' ? 'gte' : 'lt', field, value: isoInstant(end) };
}

const BOUNDS = { $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte' } as const;
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

function scalar(type: 'text' | 'int' | 'number' | 'boolean', operand: unknown, fault: Fault): Scalar {
  if (type === 'text' && typeof operand === 'string') return normalText(operand);
  if (type === 'boolean' && typeof operand === 'boolean') return operand;
  if (type === 'number' && typeof operand === 'number' && Number.isFinite(operand)) return operand === 0 ? 0 : operand;
  if (type === 'int' && Number.isSafeInteger(operand)) return operand === 0 ? 0 : (operand as number); // isSafeInteger: a number
  const wanted = { text: 'a text', boolean: 'true or false', number: 'a number', int: 'a whole number' }[type];
  throw fault(`needs ${wanted}, not ${kindOf(operand)}`);
}

function dateOf(operand: unknown, fault: Fault) {
  const span = typeof operand === 'string' ? parseDate(operand) : undefined;
  if (span !== undefined) return span;
  throw fault(`needs a date ("2024", "2024-05", "2024-05-01" or an ISO 8601 instant), not ${kindOf(operand)}`);
}

function all(parts: Filter[]): Filter {
  const [only, second] = parts;
  if (only === undefined) return { op: 'const', value: true };
  return second === undefined ? only : { op: 'and', of: parts };
}

function any(parts: Filter[]): Filter {
  const [only, second] = parts;
  if (only === undefined) return { op: 'const', value: false };
  return second === undefined ? only : { op: 'or', of: parts };
}

function negate(filter: Filter): Filter {
  return filter.op === 'const' ? { op: 'const', value: !filter.value } : { op: 'not', of: filter };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isComparison(operator: string): operator is Comparison {
  return (COMPARISONS as readonly string[]).includes(operator);
}

/** What a value is, for messages; short values as they are, since the caller wrote them. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

function invalid(path: string, message: string, details: { field?: string; operator?: string } = {}): SluiceError {
  const text = message.startsWith(':') ? `${path}${message}` : `${path} ${message}`;
  return new SluiceError('invalid_filter', text, { details: { path, ...details } });
}
