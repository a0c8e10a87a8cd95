import type { Http } from './http.js';

export interface Property {
  name: string;
  dataType: [string];
  indexFilterable: boolean;
  indexSearchable: boolean;
  indexRangeFilters: boolean;
  tokenization?: 'field' | 'whitespace';
}

export interface Collection {
  class: string;
  description: string;
  vectorizer: 'none';
  vectorIndexType: 'hnsw';
  vectorIndexConfig: Record<string, unknown>;
  invertedIndexConfig: Record<string, unknown>;
  properties: Property[];
}

/** Time that Weaviate has to make a collection, seconds. */
const TIMEOUT_S = 60;

/**
 * Makes a collection through the official client. It is loaded when it is first needed: an instance needs it once, and loading takes a
 * third of a second. Its own checks at connect are left out, since they ask a second address (gRPC) that nobody has named.
 *
 * @param http Weaviate's HTTP address and key
 */
export async function createCollection({ url, apiKey }: Pick<Http, 'url' | 'apiKey'>, collection: Collection): Promise<void> {
  const { default: weaviate } = await import('weaviate-client');
  const base = new URL(url);
  const secure = base.protocol === 'https:';
  const port = Number(base.port) || (secure ? 443 : 80);
  const host = base.hostname;
  const client = await weaviate.client({
    connectionParams: { http: { host, port, secure, path: base.pathname.replace(/\/$/, '') }, grpc: { host, port, secure } },
    skipInitChecks: true,
    ...(apiKey === undefined ? {} : { auth: new weaviate.ApiKey(apiKey) }),
    timeout: { init: TIMEOUT_S, insert: TIMEOUT_S, query: TIMEOUT_S },
  });
  try {
    await client.collections.createFromSchema({ ...collection });
  } finally {
    await client.close();
  }
}
