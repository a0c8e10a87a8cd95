/** Escaped characters of JSON strings; an escaped backslash comes first, so that what follows it is none. */
const JSON_ESCAPES = /\\\\|(?:\\u[0-9a-f]{4})+|\\["/bfnrt]/gi;
/** In code only those that mean the same in nearly all languages. */
const CODE_ESCAPES = /\\\\|(?:\\u[0-9a-f]{4})+/gi;

const XML_ESCAPES = /&(amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});/gi;
const XML_NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeXmlEscape(name: string): string | undefined {
  if (!name.startsWith('#')) return XML_NAMES[name.toLowerCase()];
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isVisible = code >= 0x20 && code <= 0x10ffff && (code < 0x7f || code > 0x9f) && (code < 0xd800 || code > 0xdfff);
  return isVisible ? String.fromCodePoint(code) : undefined;
}

/**
 * Code as it is embedded: letters that programs write as `\\uXXXX` are letters, and in JSON `\\n` and the like are white space; in XML `&amp;` is the sign it stands for. Halves of
 * surrogate pairs stay escaped.
 */
export function withoutEscapes(text: string, language: string | undefined): string {
  if (language === 'xml') return text.replace(XML_ESCAPES, (whole, name: string) => decodeXmlEscape(name) ?? whole);
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
