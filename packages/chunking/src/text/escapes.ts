/** Escaped characters of JSON strings; an escaped backslash comes first, so that what follows it is none. */
const JSON_ESCAPES = /\\\\|(?:\\u[0-9a-f]{4})+|\\["/bfnrt]/gi;
/** In code only those that mean the same in nearly all languages. */
const CODE_ESCAPES = /\\\\|(?:\\u[0-9a-f]{4})+/gi;

/**
 * Code as it is embedded: letters that programs write as `\\uXXXX` are letters, and in JSON `\\n` and the like are white space. Halves of
 * surrogate pairs stay escaped.
 */
export function withoutEscapes(text: string, language: string | undefined): string {
  if (language === undefined || !text.includes('\\')) return text;
  const isJson = language === 'json';
  return text.replace(isJson ? JSON_ESCAPES : CODE_ESCAPES, (sequence) => {
    if (sequence.charAt(1) === '\\') return isJson ? '\\' : sequence;
    if (/^\\u/i.test(sequence)) {
      const decoded = String.fromCharCode(...(sequence.match(/[0-9a-f]{4}/gi) ?? []).map((hex) => Number.parseInt(hex, 16)));
      return /[\u0000-\u0008\u000e-\u001f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(decoded)
        ? sequence
        : decoded;
    }
    return /["/]/.test(sequence) ? sequence.charAt(1) : sequence.charAt(1) === 'n' ? '\n' : ' ';
  });
}
