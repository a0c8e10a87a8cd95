import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

type Transform = typeof jsonSchemaTransform;
type TransformObject = typeof jsonSchemaTransformObject;

/** What is looked at of an OpenAPI 3 document, whose types differ by version. */
interface Described {
  components?: { schemas?: Record<string, unknown> };
}

/** A route's schemas as JSON schema, with a name for the operation. */
export const describeRoute: Transform = (route) => {
  const { schema, url } = jsonSchemaTransform(route);
  const method = [route.route.method].flat()[0] ?? 'get';
  return { schema: { operationId: operationId(method, url), ...schema } as FastifySchema, url };
};

/** As `getV1DocumentsByDocIdChunks`: what generated clients call the operation. */
function operationId(method: string, url: string): string {
  const words = url.replaceAll(/\/:([a-z_]+)/g, '/by_$1').split(/[^A-Za-z0-9]+/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/**
 * The document with the named schemas that something refers to. Zod gives each one twice, as it is sent (`XInput`) and as it is
 * answered (`X`), whether used or not; a shape that is only sent gets the plain name.
 */
export const describeDocument: TransformObject = (given) => {
  // We give an OpenAPI 3 document, so one comes back.
  const document = jsonSchemaTransformObject(given) as Described;
  const schemas = document.components?.schemas;
  if (schemas === undefined) return document as ReturnType<TransformObject>;
  const text = JSON.stringify({ ...document, components: {} });
  const used = new Set<string>();
  const visit = (json: string) => {
    for (const [, name = ''] of json.matchAll(/#\/components\/schemas\/([A-Za-z]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(JSON.stringify(schemas[name] ?? {}));
    }
  };
  visit(text);
  const plainName = (name: string) => {
    const plain = name.replace(/Input$/, '');
    return used.has(plain) ? name : plain;
  };
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  const json = JSON.stringify({ ...document, components: { ...document.components, schemas: kept } });
  const renamed = JSON.parse(
    json.replaceAll(/#\/components\/schemas\/([A-Za-z]+)/g, (_, name: string) => `#/components/schemas/${plainName(name)}`),
  ) as Described;
  const named = Object.entries(renamed.components?.schemas ?? {}).map(([name, schema]) => [plainName(name), schema] as const);
  return { ...renamed, components: { ...renamed.components, schemas: Object.fromEntries(named) } } as ReturnType<TransformObject>;
};
