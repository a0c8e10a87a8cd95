export type RtfToken =
  | { kind: 'open' | 'close' }
  | { kind: 'word'; name: string; value: number | undefined }
  /** Bytes of text in the encoding of the current font. */
  | { kind: 'text'; bytes: string };

const TOKEN = /[{}]|\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|[\r\n]+|[^\\{}\r\n]+/giy;

/** The tokens of an RTF file that is given byte for byte as Latin-1 (RTF 1.9.1). Binary data is passed over. */
export function* rtfTokens(source: string): Generator<RtfToken> {
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < source.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    if (match === null) {
      at++;
      continue;
    }
    at = TOKEN.lastIndex;
    const [whole, word, value, hex, symbol] = match;
    if (whole === '{') yield { kind: 'open' };
    else if (whole === '}') yield { kind: 'close' };
    else if (word !== undefined) {
      const number = value === undefined ? undefined : Number(value);
      if (word === 'bin') at += Math.max(0, number ?? 0);
      else yield { kind: 'word', name: word, value: number };
    } else if (hex !== undefined) yield { kind: 'text', bytes: String.fromCharCode(Number.parseInt(hex, 16)) };
    else if (symbol !== undefined) yield { kind: 'word', name: symbol, value: undefined };
    else if (!/^[\r\n]/.test(whole)) yield { kind: 'text', bytes: whole };
  }
}
