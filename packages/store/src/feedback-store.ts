import { randomUUID } from 'node:crypto';
import type { FeedbackStore, StoredFeedback } from '@sluice/core';
import { createGraphql } from './graphql.js';
import { createHttp } from './http.js';
import { collectionNames } from './names.js';
import { createObjectWriter, newObject } from './objects.js';
import { createResultLimit } from './result-limit.js';
import { describeFeedback, ensureCollections } from './schema.js';
import { createWalk } from './walk.js';

export interface FeedbackStoreOptions {
  /** Weaviate's HTTP address. */
  url: string;
  /** Key of a Weaviate that wants one. */
  apiKey?: string | undefined;
  /** Prefix of this instance's collections. */
  namespace: string;
}

/** Feedback on searches in Weaviate, an object each. Its collection is made when it is first needed. */
export function createFeedbackStore(options: FeedbackStoreOptions): FeedbackStore & { close(): void } {
  const { feedback: collection } = collectionNames(options.namespace, '');
  const http = createHttp(options.url, options.apiKey);
  const graphql = createGraphql(http);
  const maxResults = createResultLimit(graphql, collection);
  const walk = createWalk(graphql, maxResults);
  const writer = createObjectWriter({ http });
  let ready: Promise<void> | undefined;

  function ensure(): Promise<void> {
    ready ??= ensureCollections(http, [describeFeedback(collection)]).catch((error) => {
      ready = undefined;
      throw error;
    });
    return ready;
  }

  return {
    async insert(feedback) {
      await ensure();
      const properties = { feedback: JSON.stringify(feedback) };
      await writer.insert([newObject(collection, { id: randomUUID(), docId: feedback.doc_id, properties })]);
    },

    async list({ limit, after }) {
      await ensure();
      const pages = walk(collection, 'feedback _additional{id}', { size: limit, ...(after === undefined ? {} : { after }) });
      const page = await pages.next();
      const rows = page.done === true ? [] : page.value;
      const next = rows.length < limit ? undefined : rows.at(-1)?._additional?.id;
      const feedback = rows.flatMap(
        (row) => (typeof row.feedback === 'string' ? [JSON.parse(row.feedback) as StoredFeedback] : []), // as insert() wrote it
      );
      return { feedback, ...(next === undefined ? {} : { next }) };
    },

    close: () => http.close(),
  };
}
