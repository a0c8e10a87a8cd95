const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });

function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const { segment, isWordLike } of WORDS.segment(text.toLowerCase())) if (isWordLike) words.add(segment);
  return words;
}

/** Sentences of a text with their offsets, white space around them left out. */
export function* sentencesOf(text: string): Generator<{ start: number; end: number }> {
  for (const { segment, index } of SENTENCES.segment(text)) {
    const trimmed = segment.trim();
    const start = index + segment.length - segment.trimStart().length;
    if (trimmed !== '') yield { start, end: start + trimmed.length };
  }
}

/**
 * The sentence that shares most words with `wanted`, weighted against its length; the first on a tie, undefined when none shares any.
 * The weight is the F-measure of the two sets of words: neither a long sentence nor a short one wins by its length.
 */
export function bestSentence(text: string, wanted: string): { start: number; end: number } | undefined {
  const wantedWords = wordsOf(wanted);
  let best: { score: number; span: { start: number; end: number } } | undefined;
  for (const span of sentencesOf(text)) {
    const words = wordsOf(text.slice(span.start, span.end));
    if (words.size === 0) continue;
    let shared = 0;
    for (const word of words) if (wantedWords.has(word)) shared += 1;
    const score = (2 * shared) / (words.size + wantedWords.size);
    if (score > (best?.score ?? 0)) best = { score, span };
  }
  return best?.span;
}
