import { type Graphql, literal, type Row } from './graphql.js';

/**
 * Rows of a collection in uuid order, a page at a time. `fields` must ask for the id.
 *
 * @param size rows of a page, if the server allows as many
 * @param after begins behind this uuid
 */
export type Walk = (collection: string, fields: string, size: number, after?: string) => AsyncGenerator<Row[]>;

export function createWalk(graphql: Graphql, maxResults: () => Promise<number>): Walk {
  return async function* (collection, fields, size, after = '') {
    const limit = Math.min(size, await maxResults());
    let cursor = after;
    while (true) {
      const rows = await graphql.rows(collection, `limit:${limit},after:${literal(cursor)}`, fields);
      if (rows.length > 0) yield rows;
      const last = rows.at(-1)?._additional?.id;
      if (rows.length < limit || last === undefined) return;
      cursor = last;
    }
  };
}
