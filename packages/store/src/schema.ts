import { type FieldType, SluiceError } from '@sluice/core';
import { SET_FIELDS_FIELD } from '@sluice/metadata';
import type { Logger } from '@sluice/telemetry';
import { type Collection, createCollection, type Property } from './create-collection.js';
import { type Http, reasonOf } from './http.js';
import { type CollectionNames, DATA_TYPES } from './names.js';
import type { FilterProperty } from './translate-filter.js';

/** The server this schema and the protocol were measured on. */
const KNOWN_VERSION = '1.38.';

/** Kept and never asked for. Each index costs writes. */
function stored(name: string): Property {
  return {
    name,
    dataType: ['text'],
    indexFilterable: false,
    indexSearchable: false,
    indexRangeFilters: false,
    tokenization: 'field',
  };
}

/** Compared whole: equality of texts is never that of words. */
function filterable(name: string, type: FieldType): Property {
  const text = type === 'text' || type === 'text[]';
  const ranged = type === 'int' || type === 'number' || type === 'date';
  return {
    name,
    dataType: [DATA_TYPES[type] ?? type],
    indexFilterable: !ranged,
    indexSearchable: false,
    indexRangeFilters: ranged,
    ...(text ? { tokenization: 'field' as const } : {}),
  };
}

const INVERTED = {
  bm25: { b: 0.75, k1: 1.2 },
  stopwords: { preset: 'none' },
  indexNullState: false,
  indexPropertyLength: false,
  indexTimestamps: false,
};

/** The collections of an instance and a model. */
export function describeCollections(
  names: CollectionNames,
  properties: ReadonlyMap<string, FilterProperty>,
  builtIn: ReadonlySet<string>,
): Collection[] {
  const base = { vectorizer: 'none' as const, vectorIndexType: 'hnsw' as const, invertedIndexConfig: INVERTED };
  const without = { ...base, vectorIndexConfig: { skip: true } };
  return [
    {
      ...base,
      class: names.chunks,
      description: 'Sluice: chunks. Immutable; which are live stands in the commits.',
      // Exact below flatSearchCutoff (with the access filter a search always has one); 30 % less CPU an insert than the default graph.
      vectorIndexConfig: { distance: 'cosine', efConstruction: 64, maxConnections: 16 },
      properties: [
        filterable('doc_uuid', 'text'),
        filterable('rev', 'text'),
        filterable('text_hash', 'text'),
        filterable(SET_FIELDS_FIELD, 'text[]'),
        ...[...properties.entries()]
          .sort(([a], [b]) => Number(builtIn.has(b)) - Number(builtIn.has(a)))
          .map(([, field]) => filterable(field.property, field.type)),
        { ...stored('search_text'), indexSearchable: true, tokenization: 'whitespace' },
        stored('text'),
        stored('embedding_text'),
        stored('facts'),
      ],
    },
    {
      ...without,
      class: names.commits,
      description: 'Sluice: one record an attempt to write a document; the highest fence counts.',
      properties: [filterable('doc_uuid', 'text'), stored('head'), stored('record'), stored('manifest')],
    },
    {
      ...without,
      class: names.pages,
      description: 'Sluice: pages of the larger manifests, deflated JSON in base64.',
      properties: [
        stored('doc_uuid'),
        stored('doc_id'),
        stored('attempt'),
        // Not an int: GraphQL gives one past 32 bits back as null, and fences are microseconds. Doubles are exact to 2^53.
        { ...filterable('fence', 'number'), indexRangeFilters: false },
        stored('data'),
      ],
    },
  ];
}

/** The collection of the API's keys: one an instance, whatever its models. */
export function describeKeys(name: string): Collection {
  return plainCollection(name, 'Sluice: keys of the API, hashed.', [filterable('key_id', 'text'), stored('key')]);
}

/** The collection of what users said of results: one an instance, whatever its models. */
export function describeFeedback(name: string): Collection {
  return plainCollection(name, 'Sluice: feedback on results of searches.', [stored('feedback')]);
}

/** The collection of the instance's generations: which models answer, are built, or are kept. */
export function describeGenerations(name: string): Collection {
  return plainCollection(name, 'Sluice: which collections answer, are built, or are kept.', [stored('state')]);
}

function plainCollection(name: string, description: string, properties: Property[]): Collection {
  return {
    class: name,
    description,
    vectorizer: 'none',
    vectorIndexType: 'hnsw',
    vectorIndexConfig: { skip: true },
    invertedIndexConfig: INVERTED,
    properties,
  };
}

/**
 * Creates the collections that are missing, adds properties that are missing (a field declared later), and compares the rest.
 * Several processes may do so at once.
 *
 * @throws SluiceError `schema_mismatch` naming collection, property and difference
 */
export async function ensureCollections(http: Http, wanted: readonly Collection[]): Promise<void> {
  await Promise.all(wanted.map((collection) => ensureCollection(http, collection)));
}

async function ensureCollection(http: Http, wanted: Collection): Promise<void> {
  let found = await readCollection(http, wanted.class);
  if (found === undefined) {
    let refusal: unknown;
    await createCollection(http, wanted).catch((cause: unknown) => {
      // Another process may have made it in between; what is there is compared below.
      refusal = cause;
    });
    found = await readCollection(http, wanted.class);
    if (found === undefined) throw mismatch(`Weaviate did not create the collection ${wanted.class}: ${String(refusal)}`);
  }
  for (const property of wanted.properties) {
    if (found.properties.some((other) => other.name === property.name)) continue;
    await addProperty(http, wanted.class, property);
  }
  compareCollection(wanted, (await readCollection(http, wanted.class)) ?? found);
}

/**
 * Compares the collections that are there; writes nothing.
 *
 * @throws SluiceError `schema_mismatch` naming collection, property and difference
 */
export async function checkCollections(http: Http, wanted: readonly Collection[]): Promise<void> {
  await Promise.all(
    wanted.map(async (collection) => {
      const found = await readCollection(http, collection.class);
      if (found === undefined)
        throw mismatch(`the collection ${collection.class} is missing in Weaviate: a worker makes it when it starts`);
      compareCollection(collection, found);
    }),
  );
}

function compareCollection(wanted: Collection, found: FoundCollection): void {
  const problems = wanted.properties.flatMap((property) => differences(property, found.properties));
  if (found.vectorizer !== 'none') problems.push(`vectorizer is ${found.vectorizer}, not none`);
  const distance = wanted.vectorIndexConfig.distance;
  if (distance !== undefined && found.vectorIndexConfig?.distance !== distance) {
    problems.push(`distance is ${String(found.vectorIndexConfig?.distance)}, not ${String(distance)}`);
  }
  if (problems.length === 0) return;
  throw mismatch(
    `the collection ${wanted.class} in Weaviate is not the one this version needs: ${problems.join('; ')}. ` +
      'Give this instance a namespace of its own, or remove the collection and let it be written again.',
  );
}

async function addProperty(http: Http, collection: string, property: Property): Promise<void> {
  const path = `/v1/schema/${collection}/properties`;
  const answer = await http.send('POST', path, JSON.stringify(property), { timeoutMs: 60_000 });
  if (answer.status < 300) return;
  const found = await readCollection(http, collection);
  if (found?.properties.some((other) => other.name === property.name)) return;
  throw mismatch(`the property ${property.name} could not be added to ${collection}: ${reasonOf(answer)}`);
}

interface FoundCollection {
  vectorizer?: string;
  vectorIndexConfig?: { distance?: string };
  properties: Partial<Property>[];
}

async function readCollection(http: Http, name: string): Promise<FoundCollection | undefined> {
  const answer = await http.send('GET', `/v1/schema/${name}`, undefined, { repeatable: true });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new SluiceError('store_unavailable', `Weaviate's schema can't be read: ${reasonOf(answer)}`);
  const body = answer.body as Partial<FoundCollection>; // Weaviate's answer for a class
  return { ...body, properties: body.properties ?? [] };
}

function differences(wanted: Property, found: readonly Partial<Property>[]): string[] {
  const other = found.find((property) => property.name === wanted.name);
  if (other === undefined) return [`${wanted.name} is missing`];
  const problems: string[] = [];
  const compare = (what: string, is: unknown, needed: unknown) => {
    if (is !== needed) problems.push(`${wanted.name} has ${what} ${String(is)}, not ${String(needed)}`);
  };
  compare('data type', other.dataType?.join(), wanted.dataType.join());
  if (wanted.tokenization !== undefined) compare('tokenization', other.tokenization, wanted.tokenization);
  for (const index of ['indexFilterable', 'indexSearchable', 'indexRangeFilters'] as const) {
    // An index more, as an earlier version made it, costs writes and changes no answer.
    if (wanted[index]) compare(index, other[index] ?? false, true);
  }
  return problems;
}

function mismatch(message: string): SluiceError {
  return new SluiceError('schema_mismatch', message);
}

/**
 * @throws SluiceError `store_unavailable` when the server does not answer, isn't ready, or has turned the collections read-only
 */
export async function checkServer(http: Http, collections: readonly string[], logger: Logger | undefined): Promise<void> {
  const ready = await http.send('GET', '/v1/.well-known/ready', undefined, { timeoutMs: 5_000, repeatable: true });
  if (ready.status !== 200) throw new SluiceError('store_unavailable', `Weaviate is not ready: ${reasonOf(ready)}`);
  await Promise.all(
    collections.map(async (name) => {
      const answer = await http.send('GET', `/v1/schema/${name}/shards`, undefined, { timeoutMs: 5_000, repeatable: true });
      if (answer.status !== 200)
        throw new SluiceError('store_unavailable', `the collection ${name} can't be used: ${reasonOf(answer)}`);
      const shards = Array.isArray(answer.body) ? answer.body : [];
      const closed = shards.find((shard: { status?: string }) => shard.status === 'READONLY');
      if (closed === undefined) return;
      logger?.warn({ collection: name }, 'Weaviate is read-only');
      throw new SluiceError(
        'store_unavailable',
        `Weaviate has made the collection ${name} read-only. Free disk space (or raise DISK_USE_READONLY_PERCENTAGE), then set the ` +
          'shard READY again or restart Weaviate.',
      );
    }),
  );
}

/** Warns of a server version that nothing here was measured on. */
export async function checkVersion(http: Http, logger: Logger | undefined): Promise<void> {
  const answer = await http.send('GET', '/v1/meta', undefined, { repeatable: true });
  const version = (answer.body as { version?: string } | undefined)?.version ?? 'unknown';
  if (!version.startsWith(KNOWN_VERSION)) {
    logger?.warn({ version, tested: `${KNOWN_VERSION}x` }, 'Weaviate has a version that Sluice was not tested with');
  }
}
