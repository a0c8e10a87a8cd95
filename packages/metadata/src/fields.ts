import type { FieldType } from '@sluice/core';

/** What a filter may compare a field with: the type of one value, and whether the field holds a list of them. */
export interface CatalogField {
  type: 'text' | 'int' | 'number' | 'date' | 'boolean';
  list: boolean;
  /** False for the fields that the configuration declares. */
  builtIn: boolean;
}

/** Filterable fields by name. */
export type FieldCatalog = ReadonlyMap<string, CatalogField>;

/** The fields that every chunk carries (INTERFACES 5), in the order in which they are listed to people. */
export const BUILT_IN_FIELDS = {
  doc_id: 'text',
  source: 'text',
  source_path: 'text',
  doc_title: 'text',
  doc_type: 'text',
  category: 'text',
  author: 'text',
  tags: 'text[]',
  version: 'text',
  created_at: 'date',
  created_ts: 'int',
  security_level: 'int',
  allowed_groups: 'text[]',
  lang: 'text',
  kind: 'text',
} as const satisfies Record<string, FieldType>;

/**
 * Internal boolean of every chunk: true when `allowed_groups` was written out, be it as `[]`. No filter of a user can name it (it is in
 * no catalog); {@link accessFilter} does, since an empty list is stored like a missing one.
 */
export const ACCESS_RESTRICTED_FIELD = 'access_restricted';

/** Internal list of every chunk: the names of the fields that have a value, since a store's own index takes '' for none. */
export const SET_FIELDS_FIELD = 'set_fields';

/** Names that no declared field may take: they mean something already. */
export const RESERVED_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(BUILT_IN_FIELDS),
  ACCESS_RESTRICTED_FIELD,
  SET_FIELDS_FIELD,
  'access_level',
  'id',
  'rev',
  'fence',
  'text',
  'text_hash',
  'embedding_text',
  'metadata',
  'vector',
]);

/** The built-in fields and the declared ones, by name: what GET /v1/schema lists and {@link compileFilter} checks against. */
export function fieldCatalog(declared: Readonly<Record<string, FieldType>>): Map<string, CatalogField> {
  const catalog = new Map<string, CatalogField>();
  for (const [name, type] of Object.entries(BUILT_IN_FIELDS)) catalog.set(name, describe(type, true));
  for (const [name, type] of Object.entries(declared)) {
    if (!catalog.has(name)) catalog.set(name, describe(type, false));
  }
  return catalog;
}

function describe(type: FieldType, builtIn: boolean): CatalogField {
  return type === 'text[]' ? { type: 'text', list: true, builtIn } : { type, list: false, builtIn };
}
