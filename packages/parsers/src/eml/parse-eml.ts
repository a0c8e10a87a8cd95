import { type Element, type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { cleanText, oneLine } from '../clean-text.js';
import { createDocumentBuilder, type DocumentBuilder, type ListItem } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { findBom, guessUtf16 } from '../encoding/unicode.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { writeHtml } from '../html/html-elements.js';
import { parseHtmlTree } from '../html/tree.js';
import { checkAborted } from '../limits.js';
import { paragraphRanges } from '../source-text.js';

/** Reads an attachment by its own format: the registry's parse. */
export type ParseChild = (input: ParseInput) => Promise<ParsedDocument>;

/** Mails in mails nest a tenth as deep as elements do. */
const DEPTH_SHARE = 10;
const MAX_HEADERS = 1024 * 1024;

/**
 * Mails: subject, who, when, the text (its HTML form where that is all there is), mails within, and attachments by their own
 * formats. What can't be read of an attachment is a warning, never a fault of the mail.
 */
export function createEmlParser(parseChild: ParseChild): (input: ParseInput) => Promise<ParsedDocument> {
  return async (input) => {
    const builder = createDocumentBuilder(input.limits);
    const warnings: string[] = [];
    const mail = await writeMail(asBytesOfMail(input.bytes), 1);
    return finishBuilt('eml', builder, { metadata: mailMetadata(mail), warnings });

    async function writeMail(bytes: Uint8Array, level: number): Promise<Email> {
      checkAborted(input);
      if (level > Math.max(3, input.limits.depth / DEPTH_SHARE))
        throw new SluiceError('limit_exceeded', 'mails are nested deeper than a tenth of limits.depth');
      const mail = await PostalMime.parse(bytes, {
        forceRfc822Attachments: true,
        attachmentEncoding: 'arraybuffer',
        maxNestingDepth: input.limits.depth,
        maxHeadersSize: MAX_HEADERS,
      });
      builder.heading(Math.min(level, 6), mail.subject ?? '');
      builder.paragraph(headerLines(mail));
      writeBody(builder, mail, input.limits.depth);
      for (const attachment of mail.attachments) await writeAttachment(attachment, level);
      return mail;
    }

    async function writeAttachment(attachment: Attachment, level: number): Promise<void> {
      const bytes = typeof attachment.content === 'string' ? Buffer.from(attachment.content) : new Uint8Array(attachment.content);
      if (attachment.mimeType === 'message/rfc822') {
        await writeMail(bytes, level + 1);
        return;
      }
      if (!settingsOf(input).eml.attachments || isPictureOfText(attachment)) return;
      const name = oneLine(attachment.filename ?? '') || 'attachment';
      try {
        const { settings, limits, passwords, signal } = input;
        const child = await parseChild({
          bytes,
          name: name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1),
          limits,
          ...(settings === undefined ? {} : { settings }),
          ...(passwords === undefined ? {} : { passwords }),
          ...(signal === undefined ? {} : { signal }),
        });
        appendDocument(builder, name, child, level);
        warnings.push(...child.warnings.map((warning) => `${warning} (${name})`));
      } catch (error) {
        if (!(error instanceof SluiceError) || error.code === 'parse_timeout' || error.code === 'internal') throw error;
        warnings.push(`attachment_not_read: ${name} (${error.code})`);
      }
    }
  };
}

/** Mails are ASCII with encoded parts; one saved in UTF-16 or with a byte order mark is brought back to that. */
function asBytesOfMail(bytes: Uint8Array): Uint8Array {
  const unicode = findBom(bytes) !== undefined || guessUtf16(bytes) !== undefined;
  if (unicode) return new TextEncoder().encode(cleanText(decodeBytes(bytes).text));
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Pictures that the HTML text shows are part of its looks. */
function isPictureOfText(attachment: Attachment): boolean {
  return attachment.related === true && attachment.mimeType.startsWith('image/');
}

function headerLines(mail: Email): string {
  const lines = [
    ['From', people(mail.from === undefined ? [] : [mail.from])],
    ['To', people(mail.to ?? [])],
    ['Cc', people(mail.cc ?? [])],
    ['Date', mail.date === undefined ? '' : (isoDate(mail.date) ?? oneLine(mail.date))],
  ] as const;
  return lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function people(addresses: readonly Address[]): string {
  return addresses
    .map((address) => {
      if (address.group !== undefined) return `${address.name}: ${people(address.group)}`;
      const name = oneLine(address.name);
      return name === '' ? oneLine(address.address ?? '') : address.address ? `${name} <${oneLine(address.address)}>` : name;
    })
    .filter((text) => text !== '')
    .join(', ');
}

function isoDate(text: string): string | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** The plain text where there is one that says anything, else the HTML. */
function writeBody(builder: DocumentBuilder, mail: Email, depth: number): void {
  const text = cleanText(mail.text ?? '');
  if (text.trim() === '') {
    if (mail.html !== undefined) writeHtml(parseHtmlTree(cleanText(mail.html), depth), builder);
    return;
  }
  for (const range of paragraphRanges(text)) {
    const paragraph = text.slice(range.start, range.end);
    const quoted = paragraph.split('\n').every((line) => line.startsWith('>'));
    if (quoted) builder.block('quote', paragraph.replace(/^(?:> ?)+/gm, ''));
    else builder.paragraph(paragraph);
  }
}

function mailMetadata(mail: Email): Record<string, unknown> {
  const subject = oneLine(mail.subject ?? '');
  const author = mail.from === undefined ? '' : oneLine(mail.from.name || (mail.from.address ?? ''));
  const created = mail.date === undefined ? undefined : isoDate(mail.date);
  return {
    ...(subject === '' ? {} : { doc_title: subject }),
    ...(author === '' ? {} : { author }),
    ...(created === undefined ? {} : { created_at: created }),
  };
}

/** An attachment's elements under a heading with its name. */
function appendDocument(builder: DocumentBuilder, name: string, document: ParsedDocument, level: number): void {
  if (document.elements.length === 0) return;
  builder.heading(level + 1, name);
  for (const element of document.elements) {
    switch (element.kind) {
      case 'heading':
        builder.heading(level + 1 + (element.level ?? 1), element.title ?? element.text);
        break;
      case 'list':
        builder.list(listItems(element));
        break;
      case 'table':
        builder.table(element.rows ?? [], { headerRows: element.headerRows ?? 1 });
        break;
      case 'code':
        builder.code(element.text, element.lang === undefined ? {} : { lang: element.lang });
        break;
      default:
        builder.block(element.kind, element.text);
    }
  }
}

/** Outer items with all that they hold, markers parted from texts. */
function listItems({ text, parts, start }: Element): ListItem[] {
  return (parts ?? []).map((part) => {
    const item = text.slice(part.start - start, part.end - start);
    const marker = /^\S+/.exec(item)?.[0] ?? '-';
    return { marker, depth: 0, text: item.slice(marker.length) };
  });
}
