import { SluiceError } from '@sluice/core';
import iconv from 'iconv-lite';
import { guessEncoding } from './guess-encoding.js';
import { decodeUtf8, findBom, guessUtf16 } from './unicode.js';

export interface DecodedText {
  /** As decoded; cleaning comes after. */
  text: string;
  encoding: string;
  /** A warning for the document when the encoding is a doubtful guess. */
  warnings: string[];
}

export interface DecodeHints {
  /** What the document says of itself (a meta tag, a mail header). Believed when the bytes agree and are no valid UTF-8. */
  declared?: string;
}

/**
 * Decodes a text file: byte order mark, then valid UTF-8, then UTF-16 without a mark, then the declared encoding, then the legacy
 * encoding that explains the bytes best.
 *
 * @throws SluiceError `encoding_unknown` when every decoder would leave U+FFFD in the text
 */
export function decodeBytes(bytes: Uint8Array, hints: DecodeHints = {}): DecodedText {
  const bom = findBom(bytes);
  if (bom !== undefined) return { text: bom.decode(bytes.subarray(bom.length)), encoding: bom.encoding, warnings: [] };
  const utf16 = guessUtf16(bytes);
  if (utf16 !== undefined) return { text: utf16.text, encoding: utf16.encoding, warnings: [] };
  const japanese = isIso2022Jp(bytes) ? decodeStrictly(bytes, 'iso-2022-jp') : undefined;
  if (japanese !== undefined) return { text: japanese, encoding: 'iso-2022-jp', warnings: [] };
  const utf8 = decodeUtf8(bytes);
  if (utf8.text !== undefined) return { text: utf8.text, encoding: 'utf-8', warnings: utf8.warnings };
  const declared = decodeStrictly(bytes, hints.declared);
  if (declared !== undefined) return { text: declared, encoding: hints.declared ?? '', warnings: [] };
  if (utf8.damaged)
    throw new SluiceError('encoding_unknown', 'the text is UTF-8 with broken characters in it; save it again as UTF-8');
  const guess = guessEncoding(bytes);
  if (guess === undefined)
    throw new SluiceError('encoding_unknown', 'no known encoding explains the bytes of this text; save it as UTF-8');
  return {
    text: guess.text,
    encoding: guess.encoding,
    warnings: guess.doubtful ? [`encoding_guessed: ${guess.encoding}`] : [],
  };
}

/** Seven-bit Japanese, which is valid ASCII but for what its escape sequences mean. */
function isIso2022Jp(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes('\u001b$B', 0, 'latin1') || buffer.includes('\u001b$@', 0, 'latin1');
}

/**
 * The text in this encoding, or undefined when the encoding is not known or does not explain every byte. Legacy encodings are
 * decoded by tables: the TextDecoder of some Node versions turns the quotes of windows-1252 into control characters.
 */
function decodeStrictly(bytes: Uint8Array, encoding: string | undefined): string | undefined {
  if (encoding === undefined) return undefined;
  const label = encoding.trim().toLowerCase();
  const standard = STANDARD_LABELS.get(label) ?? label;
  if (!standard.startsWith('utf') && standard !== 'iso-2022-jp' && iconv.encodingExists(standard)) {
    const text = iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), standard);
    return text.includes('\ufffd') ? undefined : text;
  }
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Labels that the WHATWG Encoding Standard maps to a larger encoding than their names say. */
const STANDARD_LABELS: ReadonlyMap<string, string> = new Map([
  ...['ascii', 'us-ascii', 'latin1', 'iso-8859-1', 'iso8859-1', 'iso_8859-1', 'l1', 'cp819'].map(
    (label) => [label, 'windows-1252'] as const,
  ),
  ...['latin5', 'iso-8859-9', 'iso8859-9', 'iso_8859-9', 'l5'].map((label) => [label, 'windows-1254'] as const),
  ...['iso-8859-11', 'iso8859-11', 'tis-620', 'dos-874'].map((label) => [label, 'windows-874'] as const),
  ...['euc-kr', 'ks_c_5601-1987', 'ks_c_5601-1989', 'ks_c_5601', 'ksc5601', 'ksc_5601', 'korean', 'windows-949'].map(
    (label) => [label, 'cp949'] as const,
  ),
  ...['gb2312', 'gb_2312', 'gb_2312-80', 'chinese', 'x-gbk'].map((label) => [label, 'gbk'] as const),
  ...['sjis', 'x-sjis', 'shift-jis', 'ms_kanji', 'windows-31j'].map((label) => [label, 'shift_jis'] as const),
  ['koi8-ru', 'koi8-u'],
  ['x-mac-cyrillic', 'maccyrillic'],
]);
