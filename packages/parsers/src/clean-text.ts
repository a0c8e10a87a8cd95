/** Characters that are taken out of every text: control characters other than tab and line feed. CR is dealt with first. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const ANY_UNCLEAN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const BOM = 0xfeff;

/**
 * The one cleaning that texts get (INTERFACES, section 2): a leading byte order mark goes, CRLF and CR become LF, control characters
 * other than tab and LF go, a lone surrogate becomes U+FFFD. Nothing else changes.
 */
export function cleanText(text: string): string {
  const body = text.charCodeAt(0) === BOM ? text.slice(1) : text;
  if (!ANY_UNCLEAN.test(body)) return body;
  return body.replace(/\r\n?/g, '\n').replace(CONTROLS, '').replace(LONE_SURROGATE, '\ufffd');
}

/** Clean text on one line: every run of white space is one space (a single no-break space stays one), none at the ends. */
export function oneLine(text: string): string {
  return cleanText(text)
    .replace(/[ \t\n\u00a0\u2028\u2029]{2,}|[\t\n\u2028\u2029]/g, ' ')
    .trim();
}

/** Clean text with its line breaks: white space around them and blank lines go. */
export function trimLines(text: string): string {
  return cleanText(text)
    .replace(/[ \t\u00a0]{2,}|\t/g, ' ')
    .replace(/ ?[\n\u2028\u2029][ \n\u2028\u2029]*/g, '\n')
    .trim();
}
