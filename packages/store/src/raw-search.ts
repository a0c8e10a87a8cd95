import { isOfDocument, type SearchRequest, SluiceError } from '@sluice/core';
import { analyseText } from './analyse-text.js';
import { topicTerms } from './function-words.js';
import type { RawHit } from './fusion.js';
import { type Graphql, literal, type Row, vectorLiteral } from './graphql.js';
import { lineTerm } from './line-term.js';
import { and, anyOf, type FilterProperty, not, or, translateFilter } from './translate-filter.js';
import type { Pins, VisibleSearchDeps } from './visible-search-deps.js';

export interface RawSearchOptions {
  graphql: Graphql;
  collection: string;
  properties: ReadonlyMap<string, FilterProperty>;
  dimensions: number;
  maxResults: () => Promise<number>;
}

/** The store's own searches, vector and keyword side by side under one filter; ids alone, since most hits are not returned. */
export function createRawSearch(options: RawSearchOptions): VisibleSearchDeps['rawSearch'] {
  return async (request, pins, wanted, onPart) => {
    const limit = Math.min(wanted, await options.maxResults());
    const where = `where:${and([translateFilter(request.filter, options.properties), ...pinned(pins)])},limit:${limit}`;
    const told = (hits: RawHit[]) => {
      onPart?.(hits);
      return hits;
    };
    const [dense, keyword] = await Promise.all([
      searchDense(request, where).then(told),
      searchKeyword(request, where).then(told),
    ]);
    return { dense, keyword, limit };
  };

  async function searchDense(request: SearchRequest, where: string): Promise<RawHit[]> {
    if (request.mode === 'keyword' || (request.mode === 'hybrid' && request.alpha === 0)) return [];
    const vector = await request.vector;
    if (vector?.length !== options.dimensions) {
      throw new SluiceError(
        'internal',
        `a search by vector needs one of ${options.dimensions} dimensions, not ${vector?.length ?? 'none'}`,
      );
    }
    const args = `nearVector:{vector:${vectorLiteral(vector)}},${where}`;
    const rows = await options.graphql.rows(options.collection, args, 'doc_uuid rev _additional{id distance}');
    return rows.flatMap((row) => hitOf(row, 1 - (row._additional?.distance ?? 1)));
  }

  async function searchKeyword(request: SearchRequest, where: string): Promise<RawHit[]> {
    if (request.mode === 'dense' || (request.mode === 'hybrid' && request.alpha === 1)) return [];
    const terms = topicTerms(analyseText(request.query, 'query'));
    if (terms.length === 0) return [];
    const words = [...terms, lineTerm(request.query) ?? []].flat().join(' ');
    const args = `bm25:{query:${literal(words)},properties:["search_text"]},${where}`;
    const rows = await options.graphql.rows(options.collection, args, 'doc_uuid rev _additional{id score}');
    return rows.flatMap((row) => hitOf(row, Number(row._additional?.score ?? 0)));
  }
}

/** `document not pinned OR rev pinned`, and not superseded. A rev is one attempt at one document, so revs alone name what is pinned. */
function pinned(pins: Pins): string[] {
  if (pins.revs.size === 0) return [];
  const live = anyOf('rev', [...new Set([...pins.revs.values()].flat())]);
  const parts = [pins.closed ? live : or([not(anyOf('doc_uuid', [...pins.revs.keys()])), live])];
  if (pins.superseded.size > 0) parts.push(not(anyOf('id', [...pins.superseded])));
  return parts;
}

function hitOf(row: Row, score: number): RawHit | [] {
  const id = row._additional?.id;
  const { doc_uuid: docUuid, rev } = row;
  if (id === undefined || typeof docUuid !== 'string' || typeof rev !== 'string') return [];
  // What no attempt can have written counts as of none, whatever it says: it is dropped like a dead hit, and others take its place.
  return { id, doc_uuid: docUuid, rev: isOfDocument(id, docUuid) ? rev : '', score };
}
