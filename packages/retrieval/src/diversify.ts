import type { ScoredPassage } from './rerank.js';

/** Texts this alike say the same twice. */
const NEAR_DUPLICATE = 0.9;
/** Signs of a shingle: works for scripts with and without spaces. */
const SHINGLE = 4;

/**
 * The first `limit` passages by maximal marginal relevance (Carbonell and Goldstein 1998): each is weighed by its score against its
 * likeness to the most similar one before it. Passages that nearly repeat one before them are left out.
 *
 * @param passages best first
 * @param diversity weight of unlikeness, 0 to 1; scores count between the least and the greatest
 */
export function diversify(passages: readonly ScoredPassage[], limit: number, diversity: number): ScoredPassage[] {
  const scores = passages.map(({ score }) => score);
  const least = Math.min(...scores);
  const span = Math.max(...scores) - least;
  let left = passages.map((scored) => ({
    scored,
    relevance: span > 0 ? (scored.score - least) / span : 1,
    shingles: shinglesOf(scored.passage.text),
    likeness: 0,
  }));
  const chosen: ScoredPassage[] = [];
  while (chosen.length < limit) {
    const worth = ({ relevance, likeness }: (typeof left)[number]) => (1 - diversity) * relevance - diversity * likeness;
    const best = left.reduce<(typeof left)[number] | undefined>(
      (first, next) => (first === undefined || worth(next) > worth(first) ? next : first),
      undefined,
    );
    if (best === undefined) break;
    chosen.push(best.scored);
    left = left.filter((other) => other !== best);
    for (const other of left) other.likeness = Math.max(other.likeness, jaccard(other.shingles, best.shingles));
    left = left.filter(({ likeness }) => likeness < NEAR_DUPLICATE);
  }
  return chosen;
}

function shinglesOf(text: string): Set<string> {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
  const shingles = new Set<string>([plain.slice(0, SHINGLE)]);
  for (let at = 1; at + SHINGLE <= plain.length; at += 1) shingles.add(plain.slice(at, at + SHINGLE));
  return shingles;
}

/** Share of what two sets have in common. */
function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  let common = 0;
  for (const shingle of small) if (large.has(shingle)) common += 1;
  return common / (one.size + other.size - common);
}
