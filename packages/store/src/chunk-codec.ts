import { type ChunkObject, chunkMetadataHash, type FieldType, type FieldValue, type StoredChunk, sha256 } from '@sluice/core';
import { filterableValues, SET_FIELDS_FIELD, setFieldsOf } from '@sluice/metadata';
import { analyseText } from './analyse-text.js';
import { exactText } from './exact-text.js';
import type { Row } from './graphql.js';
import { lineTerm } from './line-term.js';
import type { FilterProperty } from './translate-filter.js';

/** Everything of a chunk but its texts and its vector, as one JSON text: exact, whatever the index makes of its values. */
type Facts = Omit<ChunkObject, 'id' | 'text' | 'embedding_text' | 'vector'>;

/** Properties that reads of chunks ask for. */
export const CHUNK_FIELDS = 'facts text embedding_text';

export interface ChunkCodec {
  /** Properties of the stored object. */
  encode(chunk: ChunkObject): Record<string, unknown>;
  /** Undefined when the object is none of ours. */
  decode(row: Row): StoredChunk | undefined;
  /** Indexed properties as a walk asks for them. */
  readonly indexedFields: string;
  /** chunkMetadataHash() when the indexed properties say what the facts say; '' when someone changed one of the two. */
  metadataHashOf(row: Row): string;
}

export function createChunkCodec(properties: ReadonlyMap<string, FilterProperty>): ChunkCodec {
  function indexed(facts: Facts): Record<string, unknown> {
    const values = filterableValues(facts.metadata, facts);
    const result: Record<string, unknown> = {
      doc_uuid: facts.doc_uuid,
      rev: facts.rev,
      text_hash: facts.text_hash,
      [SET_FIELDS_FIELD]: setFieldsOf(values).map((name) => exactText(name, sha256)),
    };
    for (const [name, value] of Object.entries(values)) {
      const field = properties.get(name);
      // A field that is declared no longer keeps its value in the facts, and leaves the index.
      if (field !== undefined && fits(field.type, value)) result[field.property] = indexValue(value, field.type);
    }
    return result;
  }

  const names = [...new Set([...properties.values()].map((field) => field.property))];

  return {
    encode(chunk) {
      const { id: _id, text, embedding_text, vector: _vector, ...facts } = chunk;
      return {
        ...indexed(facts),
        facts: JSON.stringify(facts),
        text,
        ...(embedding_text === undefined ? {} : { embedding_text }),
        search_text: searchText(chunk),
      };
    },
    decode(row) {
      const facts = factsOf(row);
      const id = row._additional?.id;
      if (facts === undefined || id === undefined || typeof row.text !== 'string') return undefined;
      return {
        ...facts,
        id,
        text: row.text,
        ...(typeof row.embedding_text === 'string' ? { embedding_text: row.embedding_text } : {}),
        ...(row._additional?.vector == null ? {} : { vector: Float32Array.from(row._additional.vector) }),
      };
    },
    indexedFields: ['rev', 'doc_uuid', 'text_hash', SET_FIELDS_FIELD, ...names].join(' '),
    metadataHashOf(row) {
      const facts = factsOf(row);
      if (facts === undefined) return '';
      const expected = indexed(facts);
      for (const name of ['rev', 'doc_uuid', 'text_hash', SET_FIELDS_FIELD, ...names]) {
        if (!sameValue(expected[name], row[name])) return '';
      }
      return chunkMetadataHash(facts.doc_id, facts.metadata);
    },
  };
}

/** Undefined when they are not of encode()'s making. */
export function factsOf(row: Row): Facts | undefined {
  if (typeof row.facts !== 'string') return undefined;
  try {
    const facts = JSON.parse(row.facts) as Facts | null;
    const isOurs = [facts?.doc_id, facts?.doc_uuid, facts?.rev].every((value) => typeof value === 'string');
    return isOurs ? (facts ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What keyword search sees: what was embedded, the text itself where that is not part of it, and the file's name, which may alone say
 * what the document is about; and the chunk's first line as a term of its own.
 */
function searchText({ text, embedding_text: embedded, source_path }: ChunkObject): string {
  const source = embedded === undefined ? text : embedded.includes(text) ? embedded : `${embedded}\n${text}`;
  const first = lineTerm(text.trimStart().split('\n', 1)[0] ?? '');
  return [...analyseText(`${source}\n${fileNameOf(source_path)}`, 'document'), ...(first === undefined ? [] : [first])].join(' ');
}

/** Without folders and the ending. */
function fileNameOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}

function fits(type: FieldType, value: FieldValue): boolean {
  switch (type) {
    case 'text':
    case 'date':
      return typeof value === 'string';
    case 'text[]':
      return Array.isArray(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'int':
    case 'number':
      return typeof value === 'number';
  }
}

function indexValue(value: FieldValue, type: FieldType): FieldValue {
  if (Array.isArray(value)) return value.map((member) => exactText(member, sha256));
  return type === 'text' && typeof value === 'string' ? exactText(value, sha256) : value;
}

const MAX_INT = 2_147_483_647;

/** Equal as far as the store can tell: it gives back null for [] and for nothing, and dates in a form of its own. */
function sameValue(expected: unknown, found: unknown): boolean {
  const empty = (value: unknown) => value === undefined || value === null || (Array.isArray(value) && value.length === 0);
  // GraphQL has integers of 32 bits, and gives null for larger ones; filters know them.
  if (typeof expected === 'number' && Number.isInteger(expected) && Math.abs(expected) > MAX_INT) return found === null;
  if (empty(expected) || empty(found)) return empty(expected) && empty(found);
  if (Array.isArray(expected) && Array.isArray(found)) {
    return expected.length === found.length && expected.every((member, i) => member === found[i]);
  }
  if (expected === found) return true;
  return (
    typeof expected === 'string' && typeof found === 'string' && isInstant(expected) && Date.parse(expected) === Date.parse(found)
  );
}

function isInstant(text: string): boolean {
  return /^[-+]?\d{4,6}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));
}
