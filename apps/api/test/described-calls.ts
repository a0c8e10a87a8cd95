import fc from 'fast-check';
import { z } from 'zod';

interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}
interface Content {
  [type: string]: { schema?: JsonSchema };
}
interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'path' | 'query'; required?: boolean; schema: JsonSchema }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** A call of an operation, as it goes over the wire. */
interface Call {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  payload?: string;
}
interface Answer {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}

/** Texts that stand out: what a database, a path or a template might take for its own. */
const TEXTS = [
  '',
  ' ',
  '0',
  'kettle',
  'inbox',
  'inbox/a.md',
  'secret/a.md',
  '../x',
  '\u0000',
  '*',
  '?',
  '%',
  '"',
  '\\',
  '𝕏',
  '{{x}}',
  'é',
];
const ANY_TEXT = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 30 }), fc.string({ unit: 'binary', maxLength: 10 }));

/** Calls of one operation: most as the document says, some with one thing wrong. */
export function callsOf(document: OpenApi, path: string, method: string, operation: Operation): fc.Arbitrary<Call> {
  const valueFor = (schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> => {
    const { $ref, enum: choices, anyOf, oneOf, type, properties, items } = schema;
    if ($ref !== undefined) return valueFor(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, depth);
    if ('const' in schema) return fc.constant(schema.const);
    if (choices !== undefined) return fc.constantFrom(...choices);
    const shapes = anyOf ?? oneOf;
    if (shapes !== undefined) return fc.oneof(...shapes.map((shape) => valueFor(shape, depth)));
    if (type === 'integer' || type === 'number') {
      const { minimum: min = -1000, maximum: max = 1000 } = schema;
      return type === 'integer' ? fc.integer({ min, max: Math.min(max, 1e9) }) : fc.double({ min, max, noNaN: true });
    }
    if (type === 'boolean') return fc.boolean();
    if (type === 'array') return fc.array(valueFor(items ?? {}, depth + 1), { minLength: schema.minItems ?? 0, maxLength: 4 });
    if (type === 'object' && properties !== undefined) {
      const fields = Object.entries(properties).map(([name, field]) => [name, valueFor(field, depth + 1)] as const);
      return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] });
    }
    if (type === 'object' || type === undefined) return depth > 4 ? fc.constant({}) : LOOSE;
    const { minLength: least = 0, maxLength: most = 100 } = schema;
    // By way of bytes: a cut may leave half of a surrogate pair.
    return ANY_TEXT.map((text) => Buffer.from(text.padEnd(Math.min(least, 50), 'x').slice(0, most)).toString());
  };
  const parameters = operation.parameters ?? [];
  const named = fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, valueFor(schema).map(String)])), {
    requiredKeys: parameters.filter(({ in: place, required }) => place === 'path' || required).map(({ name }) => name),
  }) as fc.Arbitrary<Record<string, string>>;
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? fc.constant(undefined) : fc.oneof({ weight: 4, arbitrary: valueFor(schema) }, LOOSE);
  return fc.tuple(named, body, fc.constantFrom(...HEADERS), STRANGE).map(([given, value, more, strange]) => {
    let url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
    const query = new URLSearchParams();
    for (const { name, in: place } of parameters) {
      const text = given[name];
      if (place === 'query' && text !== undefined) query.set(name, text);
    }
    if (strange.query !== undefined) query.set(...strange.query);
    if (query.size > 0) url += `?${query}`;
    const headers: Record<string, string> = { ...more };
    const wants = value === undefined ? strange.body : (strange.body ?? JSON.stringify(value));
    if (wants !== undefined && headers['content-type'] === undefined) headers['content-type'] = 'application/json';
    return {
      method: method.toUpperCase() as Call['method'],
      url,
      headers,
      ...(wants === undefined ? {} : { payload: wants }),
    };
  });
}

const LOOSE = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    {},
    { tags: 'a' },
    { tags: { $in: ['a'] } },
    { $not: { year: { $gt: 3 } } },
    { year: 'x' },
    { kind: 'text' },
    { $or: [] },
  ),
);
const JSON_AND_EVENTS = { accept: 'application/json, text/event-stream' };
const HEADERS: Record<string, string>[] = [
  {},
  {},
  JSON_AND_EVENTS,
  JSON_AND_EVENTS,
  { accept: 'image/png' },
  { ...JSON_AND_EVENTS, 'content-type': 'text/plain' },
  { ...JSON_AND_EVENTS, 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-encoding': 'gzip' },
  { ...JSON_AND_EVENTS, 'mcp-protocol-version': '1999-01-01' },
  { origin: 'http://elsewhere.example' },
  { 'if-none-match': '*', range: 'bytes=0-1' },
];
const STRANGE: fc.Arbitrary<{ query?: [string, string]; body?: string }> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  fc.constantFrom<{ query?: [string, string]; body?: string }>(
    { query: ['surprise', '1'] },
    { query: ['limit', '1e9'] },
    { query: ['as_clearance', '9'] },
    { query: ['filter', '{'] },
    { body: '' },
    { body: '{"a":' },
    { body: '[]' },
  ),
);

/** What is wrong with an answer by the document; undefined when nothing is. */
export function faultOf(document: OpenApi, operation: Operation, { statusCode, headers, body }: Answer): string | undefined {
  const described = operation.responses[String(statusCode)];
  if (described === undefined) return `${statusCode} is not described: ${body.slice(0, 200)}`;
  if (statusCode === 500) return `500: ${body.slice(0, 200)}`;
  if (statusCode === 204 || described.content === undefined) return body === '' ? undefined : `${statusCode} has a body`;
  const [type = ''] = String(headers['content-type']).split(';');
  const content = described.content[type];
  if (content === undefined) return `${statusCode} comes as ${type}`;
  if (!type.endsWith('json')) return undefined;
  const value: unknown = JSON.parse(body);
  const checked = validatorOf(document, content.schema ?? {}).safeParse(value);
  if (!checked.success) return `${statusCode}: ${checked.error.message.slice(0, 400)}`;
  const code = type === 'application/problem+json' ? (value as { code: string }).code : undefined;
  return code === undefined || described.description.includes(`\`${code}\``) ? undefined : `${statusCode} does not name ${code}`;
}

const validators = new WeakMap<JsonSchema, z.ZodType>();

function validatorOf(document: OpenApi, schema: JsonSchema): z.ZodType {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const made = z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
  validators.set(schema, made);
  return made;
}
