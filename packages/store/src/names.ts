import type { FieldType } from '@sluice/core';

export interface CollectionNames {
  chunks: string;
  commits: string;
  pages: string;
  keys: string;
  feedback: string;
  generations: string;
}

/**
 * Names of the collections: those of an instance begin with its namespace, chunks (whose vectors are of one model) end with the model.
 *
 * @param namespace of the instance, as `sluice`
 * @param model key of the embedding model, as `all-MiniLM-L6-v2`
 */
export function collectionNames(namespace: string, model: string): CollectionNames {
  const prefix = className(namespace);
  const key = className(model);
  return {
    chunks: `${prefix}Chunk${key}`,
    commits: `${prefix}Commit${key}`,
    pages: `${prefix}Page${key}`,
    keys: `${prefix}Key`,
    feedback: `${prefix}Feedback`,
    generations: `${prefix}Generation`,
  };
}

/** A text as part of a collection's name: first letter upper case, signs a name may not hold as their code points, so that none collide. */
function className(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9]/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`);
  return safe.charAt(0).toUpperCase() + safe.slice(1);
}

/** Weaviate's data type of each type of field. */
export const DATA_TYPES: Readonly<Record<FieldType, string>> = {
  text: 'text',
  'text[]': 'text[]',
  int: 'int',
  number: 'number',
  date: 'date',
  boolean: 'boolean',
};

/**
 * The property of a declared field. The type is part of the name, so that a field whose type changes gets a property of its own instead of
 * an impossible schema change; and nothing but lower-case letters and digits stands for itself, since Weaviate compares names without case.
 */
export function fieldProperty(name: string, type: FieldType): string {
  const safe = name.replace(/[^a-z0-9]/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`);
  return `f_${type === 'text[]' ? 'texts' : type}_${safe}`;
}
