import { beforeAll, expect, it } from 'vitest';
import { describeApi } from '../src/openapi.js';
import { HTTP_CODES } from '../src/problems.js';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  tags: string[];
  summary?: string;
  parameters?: { name: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

let document: Document;
let operations: { name: string; operation: Operation }[];
beforeAll(async () => {
  document = (await describeApi()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
});

/** Every field under a schema, by a path of names. A shape that is referred to stands under its own name. */
function fieldsUnder(schema: Schema, path: string, found = new Map<string, Schema>()): Map<string, Schema> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    const shape = document.components.schemas[name];
    if (shape !== undefined && path !== name) fieldsUnder(shape, name, found);
    return found;
  }
  for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) fieldsUnder(part, path, found);
  if (schema.items !== undefined) fieldsUnder(schema.items, `${path}[]`, found);
  if (typeof schema.additionalProperties === 'object') fieldsUnder(schema.additionalProperties, `${path}{}`, found);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.${name}`;
    if (found.has(at)) continue;
    // A field may be described by its shape.
    const shape = field.$ref === undefined ? undefined : document.components.schemas[field.$ref.split('/').at(-1) ?? ''];
    found.set(at, { ...shape, ...field });
    fieldsUnder(field, at, found);
  }
  return found;
}

function fieldsOf({ name, operation }: (typeof operations)[number]): Map<string, { description?: string }> {
  const found = new Map<string, { description?: string }>();
  for (const { name: parameter, description, schema } of operation.parameters ?? []) {
    const said = description ?? schema.description;
    found.set(`${name} ?${parameter}`, said === undefined ? {} : { description: said });
  }
  const bodies = [operation.requestBody, ...Object.values(operation.responses)];
  for (const content of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
    for (const [path, field] of fieldsUnder(content.schema, name)) found.set(path, field);
  }
  return found;
}

it('every field that is sent or answered has a description', () => {
  const fields = new Map(operations.flatMap((operation) => [...fieldsOf(operation)]));
  expect(fields.size).toBeGreaterThan(400);
  const silent = [...fields].filter(([, { description = '' }]) => !/\S{2}/.test(description)).map(([path]) => path);
  expect(silent).toEqual([]);
});

it('each error answer names its codes', () => {
  const codes = new Set<string>(HTTP_CODES);
  let errors = 0;
  for (const { name, operation } of operations) {
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      if (status < '400' || content?.['application/problem+json'] === undefined) continue;
      errors += 1;
      const [, list = ''] = /Codes?: (.+)\.$/.exec(description) ?? [];
      const named = list.split(', ').map((code) => code.replaceAll('`', ''));
      expect(
        named.every((code) => codes.has(code)),
        `${name} ${status}: ${description}`,
      ).toBe(true);
    }
  }
  expect(errors).toBeGreaterThan(200);
});
