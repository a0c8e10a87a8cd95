import { dataOf } from '@sluice/client';
import { given } from './given.js';
import { allPages, PAGE_LIMIT } from './pages.js';
import type { Api, DocumentView } from './responses.js';

/** Every document that matches, over all pages. */
export function allDocuments(api: Api, query: { status?: DocumentView['status']; source?: string }): Promise<DocumentView[]> {
  return allPages(async (cursor) => {
    const params = { query: { ...query, limit: PAGE_LIMIT, ...given({ cursor }) } };
    const { documents, next_cursor } = dataOf(await api.GET('/v1/documents', { params }));
    return { items: documents, ...given({ next_cursor }) };
  });
}
