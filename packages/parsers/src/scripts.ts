/** Raised and lowered text (superscripts and subscripts) on one line, without changing what it means. */

const NUMBER = /^[-+−–]?\d+(?:[.,]\d+)*$/;
const DIGIT_BEFORE = /[\p{N})\]}]$/u;
const SQUARES: Readonly<Record<string, string>> = { '2': '²', '3': '³' };
/** A variable of one letter, or a unit that is squared or cubed. */
const SHORT_WORD = /(?<![\p{L}\p{N}])(?:\p{L}|[cdkmnpµμ]m|ft|in|yd|mi|ms|kg|Pa|sec|min)$/u;
/** Too short to bear the mark of a note: rather a product of variables. */
const PRODUCT = /(?<![\p{L}\p{N}])\p{L}{2,3}$/u;
const EXPRESSION = /^[\p{L}\p{N}]{1,3}(?:[-+−–*/][\p{L}\p{N}]{1,3})+$/u;
/** Endings of ordinals belong to their number: 1st, 19e, 2º. */
const ORDINAL = /^(?:st|nd|rd|th|e|er|re|ère|ème|me|o|a|os|as|ª|º)$/iu;

/**
 * Raised text as it is set down behind `before`: 10^6, m², x^n; the mark of a note in brackets: rate[3]. Endings of ordinals and signs
 * of ions stay as they are. A raised number never melts into the digits before it.
 *
 * @param isMark it is known to be the mark of a note
 */
export function raised(before: string, text: string, isMark = false): string {
  const bare = text.trim();
  if (bare === '' || before === '' || /\s$/.test(before))
    return isMark && bare !== '' ? `[${bare.replace(/^\[|\]$/g, '')}]` : text;
  if (/^\[.*\]$|^[*†‡§¶]+$|^[²³¹⁰-⁹]+$|^\^/.test(bare)) return text;
  if (isMark) return `[${bare}]`;
  if (/^\d*[+−–-]$/.test(bare) || (ORDINAL.test(bare) && /\p{N}$/u.test(before))) return text;
  if (/^[-+−–]?\d/.test(bare)) {
    if (DIGIT_BEFORE.test(before)) return `^${wrapped(bare)}`;
    if (SHORT_WORD.test(before)) return SQUARES[bare] ?? `^${wrapped(bare)}`;
    return PRODUCT.test(before) ? `^${wrapped(bare)}` : `[${bare}]`;
  }
  const isPower =
    (/^\p{L}$/u.test(bare) || EXPRESSION.test(bare)) && (DIGIT_BEFORE.test(before) || /(?<![\p{L}\p{N}])\p{L}$/u.test(before));
  return isPower ? `^${bare.length === 1 ? bare : wrapped(bare)}` : text;
}

/** Lowered text: CO2, x1; only behind a digit it is told apart from it: 5_2. */
export function lowered(before: string, text: string): string {
  return /\p{N}$/u.test(before) && /^\s*\p{N}/u.test(text) ? `_${text.trim()}` : text;
}

function wrapped(power: string): string {
  return NUMBER.test(power) ? power : `(${power})`;
}
