import { type DocumentMetadata, hashOf, type ManifestEntry } from '@sluice/core';

/**
 * The opaque revision of what is served: equal for equal content, chunks and metadata, so that a commit of the same state again
 * (after a restart, or to outdate a sleeping writer) does not outdate anybody's citations.
 */
export function revisionOf(
  docId: string,
  contentHash: string,
  entries: readonly ManifestEntry[],
  metadata: DocumentMetadata,
): string {
  const chunks = entries.map((entry) => [entry.object_hash, entry.start, entry.end]);
  return hashOf([docId, contentHash, metadata, hashOf(chunks)]).slice(0, 16);
}
