/** Relevance of what a question should find: grade by key. A grade of 0 or less is "judged, not relevant". */
export type Judgements = ReadonlyMap<string, number>;

/** Measures of one ranking, by name: `ndcg@10`, `recall@5`, ... */
export type Scores = Record<string, number>;

/** Cut-offs of every measure. */
export const CUT_OFFS = [1, 3, 5, 10, 20, 100] as const;

export const MEASURES = ['hit', 'recall', 'precision', 'mrr', 'ndcg', 'map'] as const;

/**
 * Measures one ranking as trec_eval defines them; the names in parentheses are trec_eval's.
 *
 * - `hit@k` (success_k): 1 where one of the first k is relevant.
 * - `recall@k` (recall_k): share of all relevant ones among the first k.
 * - `precision@k` (P_k): relevant ones among the first k, over k, also where fewer than k were found.
 * - `mrr@k` (recip_rank, cut at k): 1 over the rank of the first relevant one.
 * - `ndcg@k` (ndcg_cut_k): the gain is the grade itself, the discount log2(rank + 1), the ideal all judged ones in their best order.
 * - `map@k` (map_cut_k): precision at each relevant rank, summed, over the number of all relevant ones.
 *
 * trec_eval orders by score and, where scores are equal, by the larger document number; here the order given is the ranking.
 *
 * @param ranking keys, best first; a key that comes again counts as not relevant
 * @throws RangeError where nothing is relevant: such a question measures nothing
 */
export function measure(ranking: readonly string[], judgements: Judgements, cutOffs: readonly number[] = CUT_OFFS): Scores {
  const relevant = [...judgements.values()].filter((grade) => grade > 0).sort((a, b) => b - a);
  if (relevant.length === 0) throw new RangeError('a question without a relevant document cannot be measured');
  const seen = new Set<string>();
  const grades = ranking.map((key) => {
    const grade = seen.has(key) ? 0 : Math.max(0, judgements.get(key) ?? 0);
    seen.add(key);
    return grade;
  });
  const scores: Scores = {};
  for (const k of cutOffs) {
    const head = grades.slice(0, k);
    const found = head.filter((grade) => grade > 0).length;
    const first = head.findIndex((grade) => grade > 0);
    scores[`hit@${k}`] = found > 0 ? 1 : 0;
    scores[`recall@${k}`] = found / relevant.length;
    scores[`precision@${k}`] = found / k;
    scores[`mrr@${k}`] = first < 0 ? 0 : 1 / (first + 1);
    scores[`ndcg@${k}`] = discountedGain(head) / discountedGain(relevant.slice(0, k));
    scores[`map@${k}`] = precisions(head) / relevant.length;
  }
  return scores;
}

function discountedGain(grades: readonly number[]): number {
  return grades.reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0);
}

/** Precision at each rank that holds a relevant one, summed. */
function precisions(grades: readonly number[]): number {
  let found = 0;
  let sum = 0;
  for (const [index, grade] of grades.entries()) {
    if (grade <= 0) continue;
    found += 1;
    sum += found / (index + 1);
  }
  return sum;
}
