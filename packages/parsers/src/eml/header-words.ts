import { decodeLabelled } from '../encoding/decode-bytes.js';

/** Encoded words of one charset and kind in a row (RFC 2047): a character may be parted between two of them. */
const WORDS = /=\?([^?*\s]+)(?:\*[^?\s]*)?\?([BQ])\?[^?\s]*\?=(?:\s+=\?\1(?:\*[^?\s]*)?\?\2\?[^?\s]*\?=)*/gi;
const WORD = /\?[BQ]\?([^?\s]*)\?=/gi;
/** The first part of a parameter with a charset of its own (RFC 2231). */
const PARAMETER = /\*(?:0\*)?=(?:"?)([\w.:-]+)'[^']*'/;

/** A header whose words are all in UTF-8, whatever charset they were in: decoded as the texts of files are. */
export function withUtf8Words(header: string): string {
  return withUtf8Parameters(
    header.replace(WORDS, (words: string, charset: string, kind: string) => {
      const pieces = [...words.matchAll(WORD)].map((match) => wordBytes(match[1] ?? '', kind));
      const text = isUtf8(charset) ? undefined : decodeLabelled(Buffer.concat(pieces), charset);
      return text === undefined || text.includes('\ufffd') ? words : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
    }),
  );
}

/** `filename*=windows-1252''%80.pdf`, also in several parts. */
function withUtf8Parameters(header: string): string {
  const charset = PARAMETER.exec(header)?.[1];
  if (charset === undefined || isUtf8(charset)) return header;
  return header
    .replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
      const text = decodeLabelled(Buffer.from(escaped.replaceAll('%', ''), 'hex'), charset);
      return text === undefined || text.includes('\ufffd') ? escaped : encodeURIComponent(text);
    })
    .replace(new RegExp(`=("?)${charset.replaceAll('.', '\\.')}'`, 'i'), "=$1utf-8'");
}

const isUtf8 = (charset: string): boolean => /^utf-?8$/i.test(charset);

function wordBytes(word: string, kind: string): Buffer {
  if (kind.toUpperCase() === 'B') return Buffer.from(word, 'base64');
  const plain = word
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}
