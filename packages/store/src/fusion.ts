import type { SearchRequest } from '@sluice/core';

/** A chunk that a part of a search found. */
export interface RawHit {
  id: string;
  doc_uuid: string;
  /** The attempt that wrote it. */
  rev: string;
  /** Cosine of the dense part, BM25 of the keyword part. */
  score: number;
}

/** What the two parts of a search found, best first. A part that was not asked for is empty. */
export interface RawPool {
  dense: RawHit[];
  keyword: RawHit[];
  /** The most hits a part could have had: one that has fewer has all there are. */
  limit: number;
}

export interface FusedHit extends Omit<RawHit, 'score'> {
  score: number;
  scores: { dense?: number; keyword?: number; fused?: number };
}

/**
 * One list out of both parts. Dense and keyword searches keep their own scores. Hybrid: relative-score fusion, that is each part's scores
 * brought to 0..1, weighted `alpha` and `1 - alpha` and added; a chunk that a part did not find gets nothing from it. Cosines lie between the
 * part's own least and greatest (1 where they are equal). BM25 has a zero of its own, the chunk without any of the words, so it is only divided by
 * its greatest: between least and greatest a hair's difference of two near-equal hits would count as much as having the words at all. With alpha 0 only keyword hits are left, with alpha 1 only dense ones, in that part's own order.
 *
 * The pool must hold visible chunks alone: the extremes are those of what is given.
 */
export function fuse(
  pool: Pick<RawPool, 'dense' | 'keyword'>,
  { mode, alpha, relativeKeyword = false }: Pick<SearchRequest, 'mode' | 'alpha' | 'relativeKeyword'>,
): FusedHit[] {
  const hits = new Map<string, FusedHit>();
  const add = (part: 'dense' | 'keyword', weight: number) => {
    const list = pool[part];
    let least = part === 'keyword' ? 0 : Number.POSITIVE_INFINITY;
    let greatest = Number.NEGATIVE_INFINITY;
    for (const { score } of list) {
      least = Math.min(least, score);
      greatest = Math.max(greatest, score);
    }
    const unit = part === 'keyword' && relativeKeyword && greatest > 0 ? greatest : 1;
    for (const { id, doc_uuid, rev, score } of list) {
      const hit: FusedHit = hits.get(id) ?? { id, doc_uuid, rev, score: 0, scores: {} };
      hit.scores[part] = score / unit;
      hit.score += mode === 'hybrid' ? weight * (greatest > least ? (score - least) / (greatest - least) : 1) : score / unit;
      hits.set(id, hit);
    }
  };
  if (mode !== 'keyword' && (mode === 'dense' || alpha > 0)) add('dense', alpha);
  if (mode !== 'dense' && (mode === 'keyword' || alpha < 1)) add('keyword', 1 - alpha);
  const fused = [...hits.values()];
  if (mode === 'hybrid') for (const hit of fused) hit.scores.fused = hit.score;
  return fused;
}
