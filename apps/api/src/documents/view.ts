import { docUuid, makeDocId } from '@sluice/core';
import { publicMetadata } from '@sluice/retrieval';
import type { DocumentView } from '../schemas/documents.js';
import type { DocumentState } from './state.js';

/** A document as the API shows it. */
export function viewOf({ top, serving, status }: DocumentState): DocumentView {
  const told = status !== 'pending';
  return {
    doc_id: top.doc_id,
    id: top.doc_uuid,
    source: top.source,
    source_path: top.source_path,
    status,
    ...(told && top.reason !== undefined ? { reason: top.reason } : {}),
    ...(told && top.message !== undefined ? { message: top.message } : {}),
    serving: serving !== undefined,
    revision: serving?.revision ?? '',
    chunks: serving?.chunks ?? 0,
    content_hash: top.content_hash,
    committed_at: top.committed_at,
    warnings: top.warnings,
    metadata: publicMetadata(top.metadata),
  };
}

/** A document of which nothing is stored yet, only a job waits for it. */
export function pendingView(source: string, path: string): DocumentView {
  const docId = makeDocId(source, path);
  return {
    doc_id: docId,
    id: docUuid(docId),
    source,
    source_path: path,
    status: 'pending',
    serving: false,
    revision: '',
    chunks: 0,
    content_hash: '',
    warnings: [],
    metadata: {},
  };
}
