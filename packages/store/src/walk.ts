import { type Graphql, literal, type Row } from './graphql.js';

/**
 * Rows of a collection in uuid order, a page at a time. `fields` must ask for the id.
 *
 * The cursor of Weaviate decodes every row of a page whole, whatever fields are asked for: pages double from `first` to `size`, so that a
 * walk of a few rows reads little more than those.
 */
export type Walk = (collection: string, fields: string, pages: WalkPages) => AsyncGenerator<Row[]>;

interface WalkPages {
  /** Rows of a page, if the server allows as many. */
  size: number;
  /** Rows of the first page; default `size`. */
  first?: number;
  /** Begins behind this uuid. */
  after?: string;
}

export function createWalk(graphql: Graphql, maxResults: () => Promise<number>): Walk {
  return async function* (collection, fields, { size, first = size, after = '' }) {
    const most = Math.min(size, await maxResults());
    let cursor = after;
    for (let limit = Math.min(first, most); ; limit = Math.min(2 * limit, most)) {
      const rows = await graphql.rows(collection, `limit:${limit},after:${literal(cursor)}`, fields);
      if (rows.length > 0) yield rows;
      const last = rows.at(-1)?._additional?.id;
      if (rows.length < limit || last === undefined) return;
      cursor = last;
    }
  };
}
