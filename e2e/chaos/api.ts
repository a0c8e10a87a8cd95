/** The HTTP API as the harness' readers and its operator call it. */
export interface DocumentView {
  doc_id: string;
  status: string;
  reason?: string;
  serving: boolean;
  content_hash: string;
  metadata: { security_level?: number; category?: string };
}

export interface ChunkView {
  text: string;
  prefix: string;
  start: number;
  end: number;
}

export interface Hit {
  doc_id: string;
  text: string;
  metadata: { category?: string };
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** @param key of an operator of clearance 5; readers call without one */
export function createApi(url: string, key?: string) {
  async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new ApiError(response.status, `${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as T;
  }
  return {
    search: async (body: Record<string, unknown>): Promise<Hit[]> =>
      (await call<{ results: Hit[] }>('/v1/search', { method: 'POST', body: JSON.stringify(body) })).results,
    document: (docId: string) => call<DocumentView>(`/v1/documents/${encodeURIComponent(docId)}`),
    chunks: async (docId: string) =>
      (await call<{ chunks: ChunkView[] }>(`/v1/documents/${encodeURIComponent(docId)}/chunks?limit=1000`)).chunks,
    async documents(): Promise<DocumentView[]> {
      const all: DocumentView[] = [];
      let cursor = '';
      do {
        const page = await call<{ documents: DocumentView[]; next_cursor?: string }>(
          `/v1/documents?limit=1000${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        all.push(...page.documents);
        cursor = page.next_cursor ?? '';
      } while (cursor !== '');
      return all;
    },
    isReady: () =>
      call('/readyz').then(
        () => true,
        () => false,
      ),
  };
}

export type Api = ReturnType<typeof createApi>;
