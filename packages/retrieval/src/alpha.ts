/** Weight of the dense part where the words themselves are meant. Measured in docs/quality.md. */
const LITERAL_ALPHA = 0.3;

/** In a longer question an identifier is one detail among many. */
const MAX_WORDS = 12;

/**
 * Weight of the dense part of a hybrid search that names none. A question that holds an identifier (`QX-7731`, `config.yaml`,
 * `max_tokens`, `ada@example.org`) or a phrase in quotation marks leans to keywords, since a vector says little of either.
 *
 * @param alpha the configured weight; it is never raised
 */
export function alphaFor(query: string, alpha: number): number {
  return isLiteral(query) ? Math.min(alpha, LITERAL_ALPHA) : alpha;
}

function isLiteral(query: string): boolean {
  if (/["“”„«»][^"“”„«»]*[\p{L}\p{N}]{2}[^"“”„«»]*["“”„«»]/u.test(query)) return true;
  const words = query.split(/\s+/).filter((word) => word !== '');
  return words.length <= MAX_WORDS && words.some(isIdentifier);
}

function isIdentifier(word: string): boolean {
  const core = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  // Ordinals and decades are words: 20th, 1990s.
  if (core.length < 4 || /^\p{N}+(?:st|nd|rd|th|s)$/iu.test(core)) return false;
  const isMixed = /\p{N}/u.test(core) && /\p{L}/u.test(core);
  const isJoined = /[\p{L}\p{N}](?:[_@#]|::)[\p{L}\p{N}]/u.test(core);
  return isMixed || isJoined || /\p{L}{3,}\.\p{L}{1,5}$/u.test(core);
}
