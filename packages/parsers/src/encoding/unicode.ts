/** Bytes over which the nature of a text is judged. */
const HEAD = 64 * 1024;

export interface Bom {
  encoding: string;
  length: number;
  decode: (rest: Uint8Array) => string;
}

/** The encoding that a byte order mark names. UTF-32 is looked for first: its little-endian mark begins like that of UTF-16. */
export function findBom(bytes: Uint8Array): Bom | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe && c === 0 && d === 0)
    return { encoding: 'utf-32le', length: 4, decode: (rest) => decodeUtf32(rest, true) };
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff)
    return { encoding: 'utf-32be', length: 4, decode: (rest) => decodeUtf32(rest, false) };
  if (a === 0xff && b === 0xfe)
    return { encoding: 'utf-16le', length: 2, decode: (rest) => new TextDecoder('utf-16le').decode(rest) };
  if (a === 0xfe && b === 0xff)
    return { encoding: 'utf-16be', length: 2, decode: (rest) => new TextDecoder('utf-16be').decode(rest) };
  return undefined;
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: string[] = [];
  let units: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const point = view.getUint32(at, littleEndian);
    units.push(point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) ? point : 0xfffd);
    if (units.length === 4096) {
      pieces.push(String.fromCodePoint(...units));
      units = [];
    }
  }
  pieces.push(String.fromCodePoint(...units));
  return pieces.join('');
}

export interface Utf8Result {
  /** Undefined when the bytes are no valid UTF-8. */
  text?: string;
  warnings: string[];
  /** The bytes are plainly UTF-8, but some of them are broken. */
  damaged: boolean;
}

/** Broken sequences that a text may have for one whole one and still be called damaged UTF-8 rather than something else. */
const DAMAGE_SHARE = 0.1;

/** Decodes UTF-8 without loss. A last character that was cut off by the end of the file is left out, with a warning. */
export function decodeUtf8(bytes: Uint8Array): Utf8Result {
  const scan = scanUtf8(bytes);
  if (scan.broken === 0) return { text: decodeValid(bytes, scan), warnings: [], damaged: false };
  if (scan.broken === 1 && scan.cutAt !== undefined && scan.whole > 0) {
    const text = decodeValid(bytes.subarray(0, scan.cutAt), scan);
    return { text, warnings: ['encoding_guessed: utf-8, its last character is cut off'], damaged: false };
  }
  return { warnings: [], damaged: scan.whole >= 4 && scan.broken <= scan.whole * DAMAGE_SHARE };
}

function decodeValid(bytes: Uint8Array, scan: Utf8Scan): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Latin-1 gives the same text for ASCII, in one byte a character outside the heap.
  return scan.whole === 0 ? buffer.toString('latin1') : new TextDecoder('utf-8').decode(buffer);
}

interface Utf8Scan {
  /** Whole sequences of two bytes or more. */
  whole: number;
  broken: number;
  /** Where the last sequence begins, when the end of the bytes cuts it off. */
  cutAt?: number;
}

/** Counts the well-formed and broken multi-byte sequences (the table of RFC 3629, section 4). */
function scanUtf8(bytes: Uint8Array): Utf8Scan {
  const length = bytes.length;
  let whole = 0;
  let broken = 0;
  let at = 0;
  while (at < length) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const size = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
    if (size === 0) {
      broken++;
      at++;
      continue;
    }
    let good = 1;
    while (good < size && at + good < length && isContinuation(lead, good, bytes[at + good] ?? 0)) good++;
    if (good === size) whole++;
    else {
      broken++;
      if (at + good >= length) return { whole, broken, cutAt: at };
    }
    at += good;
  }
  return { whole, broken };
}

function isContinuation(lead: number, index: number, byte: number): boolean {
  if (byte < 0x80 || byte > 0xbf) return false;
  if (index > 1) return true;
  if (lead === 0xe0) return byte >= 0xa0;
  if (lead === 0xed) return byte <= 0x9f;
  if (lead === 0xf0) return byte >= 0x90;
  return lead !== 0xf4 || byte <= 0x8f;
}

export interface Utf16Guess {
  text: string;
  encoding: 'utf-16le' | 'utf-16be';
}

/** Share of characters that must be ordinary ones for bytes to be called UTF-16. */
const ORDINARY_SHARE = 0.9;

/** Share of units with a zero byte from which on a text is no one-byte encoding with stray NULs in it. */
const ZERO_SHARE = 0.15;

/** Recognises UTF-16 without a byte order mark by the zero bytes of its ASCII characters, all on one side. */
export function guessUtf16(bytes: Uint8Array): Utf16Guess | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  const head = bytes.subarray(0, Math.min(HEAD, bytes.length));
  let zerosEven = 0;
  let zerosOdd = 0;
  let asciiPairs = 0;
  for (let at = 0; at + 1 < head.length; at += 2) {
    const [first = 0, second = 0] = [head[at], head[at + 1]];
    if (first === 0) zerosEven++;
    if (second === 0) zerosOdd++;
    if (isAsciiText(first) && isAsciiText(second)) asciiPairs++;
  }
  const units = head.length / 2;
  if (zerosEven + zerosOdd < units * ZERO_SHARE) return undefined;
  // Two ASCII characters side by side nearly everywhere: a short one-byte text, of which one NUL is a large share.
  if (asciiPairs > zerosEven + zerosOdd && asciiPairs + zerosEven + zerosOdd >= units) return undefined;
  for (const encoding of zerosOdd >= zerosEven ? (['utf-16le', 'utf-16be'] as const) : (['utf-16be', 'utf-16le'] as const)) {
    const zeros = encoding === 'utf-16le' ? zerosOdd : zerosEven;
    const wrong = encoding === 'utf-16le' ? zerosEven : zerosOdd;
    if (zeros === 0 || wrong > zeros / 20) continue;
    if (ordinaryShare(head, encoding) < ORDINARY_SHARE) continue;
    return { text: new TextDecoder(encoding).decode(bytes), encoding };
  }
  return undefined;
}

function isAsciiText(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || (byte >= 0x09 && byte <= 0x0d);
}

const ORDINARY =
  /[\t\n\r\u0020-\u007e\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0900-\u0e7f\u1e00-\u206f\u20a0-\u20bf\u2190-\u22ff\u2500-\u257f\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef]/g;

/** Share of a text's characters that are in everyday use in some script. */
function ordinaryShare(bytes: Uint8Array, encoding: string): number {
  const text = new TextDecoder(encoding).decode(bytes);
  return (text.match(ORDINARY)?.length ?? 0) / Math.max(1, text.length);
}
