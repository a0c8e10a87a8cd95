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
 * encoding that explains the bytes best. Characters that are lost are a warning.
 *
 * @throws SluiceError `encoding_unknown` when no encoding is declared and every decoder would leave U+FFFD in the text
 */
export function decodeBytes(bytes: Uint8Array, hints: DecodeHints = {}): DecodedText {
  const decoded = decodeWhole(bytes, hints);
  const lost = lostCharacters(decoded.text);
  return lost === 0 ? decoded : { ...decoded, warnings: [...decoded.warnings, `characters_lost: ${lost}`] };
}

function decodeWhole(bytes: Uint8Array, hints: DecodeHints): DecodedText {
  const bom = findBom(bytes);
  if (bom !== undefined) return { text: bom.decode(bytes.subarray(bom.length)), encoding: bom.encoding, warnings: [] };
  const utf16 = guessUtf16(bytes);
  if (utf16 !== undefined) return { text: utf16.text, encoding: utf16.encoding, warnings: [] };
  const japanese = isIso2022Jp(bytes) ? decodeStrictly(bytes, 'iso-2022-jp') : undefined;
  if (japanese !== undefined) return { text: japanese, encoding: 'iso-2022-jp', warnings: [] };
  const utf8 = decodeUtf8(bytes);
  if (utf8.text !== undefined) return { text: utf8.text, encoding: 'utf-8', warnings: utf8.warnings };
  const { declared = '' } = hints;
  const asDeclared = decodeLabelled(bytes, declared);
  if (asDeclared !== undefined && !asDeclared.includes('\ufffd')) return { text: asDeclared, encoding: declared, warnings: [] };
  if (utf8.damaged)
    throw new SluiceError('encoding_unknown', 'the text is UTF-8 with broken characters in it; save it again as UTF-8');
  const guess = guessEncoding(bytes);
  if (guess !== undefined && (asDeclared === undefined || !guess.doubtful))
    return {
      text: guess.text,
      encoding: guess.encoding,
      warnings: guess.doubtful ? [`encoding_guessed: ${guess.encoding}`] : [],
    };
  if (asDeclared !== undefined) return { text: asDeclared, encoding: declared, warnings: [] };
  throw new SluiceError('encoding_unknown', 'no known encoding explains the bytes of this text; save it as UTF-8');
}

/** Characters that cleaning takes out although a wrong table put them there, or that were lost before. */
function lostCharacters(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(/[\u0080-\u0084\u0086-\u009f\ufffd]/g)) count++;
  return count;
}

/** Seven-bit Japanese, which is valid ASCII but for what its escape sequences mean. */
function isIso2022Jp(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.includes('\u001b$B', 0, 'latin1') || buffer.includes('\u001b$@', 0, 'latin1');
}

function decodeStrictly(bytes: Uint8Array, label: string): string | undefined {
  const text = decodeLabelled(bytes, label);
  return text?.includes('\ufffd') ? undefined : text;
}

/**
 * The text in the encoding that a label names (labels as the WHATWG Encoding Standard maps them: latin1 is windows-1252), with U+FFFD
 * for what the encoding does not have; undefined for an unknown label. Legacy encodings are decoded by tables: the TextDecoder of
 * some Node versions turns the quotes of windows-1252 into control characters.
 */
export function decodeLabelled(bytes: Uint8Array, label: string): string | undefined {
  const standard = standardName(label);
  const table = TABLES[standard] ?? standard;
  if (!/^utf-|^iso-2022-jp$/.test(table) && iconv.encodingExists(table))
    return iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), table);
  try {
    return new TextDecoder(standard).decode(bytes);
  } catch {
    return undefined;
  }
}

function standardName(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return label.trim().toLowerCase();
  }
}

/** Names of the Encoding Standard whose tables go by another name, or are part of a larger one. */
const TABLES: Readonly<Record<string, string>> = {
  'euc-kr': 'cp949',
  gbk: 'gb18030',
  ibm866: 'cp866',
  'iso-8859-8-i': 'iso-8859-8',
  'x-mac-cyrillic': 'maccyrillic',
};
