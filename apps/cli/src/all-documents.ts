import type { Api, DocumentView } from './responses.js';

/** Every document that matches, over all pages. */
export async function allDocuments(
  api: Api,
  query: { status?: DocumentView['status']; source?: string },
): Promise<DocumentView[]> {
  const documents: DocumentView[] = [];
  for await (const document of api.documents.list(query)) documents.push(document);
  return documents;
}
