import { type ParseLimits, SluiceError } from '@sluice/core';
import PostalMime, { type Email } from 'postal-mime';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { findBom, guessUtf16 } from '../encoding/unicode.js';
import { withUtf8Words } from './header-words.js';

const MAX_HEADERS = 1024 * 1024;

/** What is used of postal-mime's tree of parts, which its types leave out. */
interface PartReader {
  collectNode(part: Part, ...rest: unknown[]): Promise<void>;
}
interface Part {
  content: ArrayBuffer | null;
  headers: { key: string; value: string }[];
  contentType: { parsed: { params: Record<string, string> } };
  contentDisposition: { parsed: { params: Record<string, string> } };
  parseStructuredHeader(value: string): { params: Record<string, string> };
  getTextContent(): string;
}

/**
 * A mail with its texts decoded as those of files are: what is valid UTF-8 is that, whatever the mail declares; what is declared falsely, or not at
 * all, is recognised by what it looks like, with a warning where in doubt.
 *
 * @throws SluiceError `corrupt`, `encoding_unknown`
 */
export async function readMail(
  bytes: Uint8Array,
  { limits, name }: { limits: ParseLimits; name: string },
): Promise<{ mail: Email; warnings: string[] }> {
  const warnings = new Set<string>();
  const decode = (content: Uint8Array, declared?: string): Uint8Array => {
    const decoded = decodeBytes(content, declared === undefined ? {} : { declared });
    for (const warning of decoded.warnings) warnings.add(warning);
    return new TextEncoder().encode(decoded.text);
  };
  const parser = new PostalMime({
    forceRfc822Attachments: true,
    attachmentEncoding: 'arraybuffer',
    maxNestingDepth: limits.depth,
    maxHeadersSize: MAX_HEADERS,
  });
  // The only place where a part's bytes and its declared encoding are both to be had.
  const reader = parser as unknown as PartReader;
  const collect = reader.collectNode.bind(parser);
  reader.collectNode = (part, ...rest) => {
    for (const header of part.headers) {
      const value = withUtf8Words(header.value);
      if (value === header.value) continue;
      header.value = value;
      if (header.key === 'content-type') Object.assign(part.contentType.parsed.params, part.parseStructuredHeader(value).params);
      if (header.key === 'content-disposition')
        Object.assign(part.contentDisposition.parsed.params, part.parseStructuredHeader(value).params);
    }
    const textOf = part.getTextContent.bind(part);
    part.getTextContent = () => {
      const { params } = part.contentType.parsed;
      if (part.content !== null) {
        part.content = new Uint8Array(decode(new Uint8Array(part.content), params.charset)).buffer;
        params.charset = 'utf-8';
      }
      return textOf();
    };
    return collect(part, ...rest);
  };
  try {
    const mail = await parser.parse(withReadableHead(asBytesOfMail(bytes), decode));
    return { mail, warnings: [...warnings] };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError('corrupt', `a mail in ${name} is damaged`, { cause: error });
  }
}

/** Mails are ASCII with encoded parts; one saved in UTF-16 or with a byte order mark is brought back to that. */
function asBytesOfMail(bytes: Uint8Array): Uint8Array {
  const unicode = findBom(bytes) !== undefined || guessUtf16(bytes) !== undefined;
  if (unicode) return new TextEncoder().encode(cleanText(decodeBytes(bytes).text));
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Headers that are neither ASCII nor UTF-8, as some programs write them, become UTF-8. */
function withReadableHead(bytes: Uint8Array, decode: (head: Uint8Array) => Uint8Array): Uint8Array {
  const head = bytes.subarray(0, headLength(bytes));
  if (head.every((byte) => byte < 0x80)) return bytes;
  return Buffer.concat([decode(head), bytes.subarray(head.length)]);
}

/** Up to the first blank line. */
function headLength(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_HEADERS));
  const ends = ['\n\r\n', '\n\n'].map((mark) => buffer.indexOf(mark)).filter((at) => at >= 0);
  return ends.length === 0 ? buffer.length : Math.min(...ends) + 1;
}
