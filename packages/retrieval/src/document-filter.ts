import { type CommitRecord, type DocumentMetadata, type FieldValue, type Filter, SluiceError } from '@sluice/core';
import { compileFilter, evaluateFilter, type FieldCatalog, filterableValues } from '@sluice/metadata';

/** The field that is not the same for all chunks of a document. */
export const OF_CHUNKS = 'kind';

export type Values = Readonly<Record<string, FieldValue>>;

type Identity = Pick<CommitRecord, 'doc_id' | 'source' | 'source_path'>;

/** What a filter can ask of a document. */
export function valuesOf(metadata: DocumentMetadata, { doc_id, source, source_path }: Identity): Values {
  return filterableValues(metadata, { doc_id, source, source_path, kind: '' });
}

/** Whether a filter compares a field. */
export function names(filter: Filter, field: string): boolean {
  if ('of' in filter) return [filter.of].flat().some((part) => names(part, field));
  return 'field' in filter && filter.field === field;
}

/**
 * A caller's filter for documents. One of which nothing is stored has a name alone.
 * @throws SluiceError `invalid_filter`, also for a filter by `kind`, which belongs to chunks
 */
export function documentFilter(
  json: unknown,
  catalog: FieldCatalog,
): (document: Identity & { metadata?: DocumentMetadata }) => boolean {
  const filter = compileFilter(json, catalog);
  if (names(filter, OF_CHUNKS)) {
    throw new SluiceError('invalid_filter', 'filter: kind belongs to chunks, not to documents', { details: { path: OF_CHUNKS } });
  }
  return ({ metadata, doc_id, source, source_path }) => {
    const identity = { doc_id, source, source_path };
    return evaluateFilter(filter, metadata === undefined ? identity : valuesOf(metadata, identity));
  };
}
