import { type Attachment as AttachmentFacts, isReason, type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import type { Address, Attachment, Email } from 'postal-mime';
import { appendDocument, listItem } from '../append-document.js';
import { cleanText, oneLine } from '../clean-text.js';
import { createDocumentBuilder, type DocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import type { ChildParser } from '../format-entry.js';
import { settingsOf } from '../format-settings.js';
import { writeHtml } from '../html/html-elements.js';
import { type HtmlNode, parseHtmlTree, textOf } from '../html/tree.js';
import { checkAborted } from '../limits.js';
import { paragraphRanges } from '../source-text.js';
import { itemsOf } from '../text/list-items.js';
import { readMail } from './read-mail.js';

/** Mails in mails nest a tenth as deep as elements do. */
const DEPTH_SHARE = 10;

/**
 * Mails: subject, who, when, the text (its HTML form where that is all there is), mails within, and attachments by their own
 * formats, each a section of its own. What can't be read of an attachment is a warning, never a fault of the mail.
 */
export function createEmlParser(children: ChildParser): (input: ParseInput) => Promise<ParsedDocument> {
  return async (input) => {
    const builder = createDocumentBuilder(input.limits);
    const warnings: string[] = [];
    const attachments: AttachmentFacts[] = [];
    const mail = await writeMail(input.bytes, []);
    const document = finishBuilt('eml', builder, { metadata: mailMetadata(mail), warnings });
    return attachments.length === 0 ? document : { ...document, attachments };

    /** `path` names the mails around it. */
    async function writeMail(bytes: Uint8Array, path: readonly string[]): Promise<Email> {
      checkAborted(input);
      const level = path.length + 1;
      if (level > Math.max(3, input.limits.depth / DEPTH_SHARE))
        throw new SluiceError('limit_exceeded', 'mails are nested deeper than a tenth of limits.depth');
      const { mail, warnings: guesses } = await readMail(bytes, input);
      warnings.push(...guesses.map((warning) => (path.length === 0 ? warning : `${warning} (${path.at(-1)})`)));
      if (attachments.length + mail.attachments.length > input.limits.archiveEntries)
        throw new SluiceError('limit_exceeded', `${input.name} has more attachments than limits.archive_entries allows`);
      builder.heading(Math.min(level, 6), oneLine(mail.subject ?? '') || (path.at(-1) ?? ''));
      builder.paragraph(headerLines(mail));
      writeBody(builder, mail, level, input.limits.depth);
      for (const attachment of mail.attachments) await writeAttachment(attachment, path);
      return mail;
    }

    async function writeAttachment(attachment: Attachment, around: readonly string[]): Promise<void> {
      const bytes = typeof attachment.content === 'string' ? Buffer.from(attachment.content) : new Uint8Array(attachment.content);
      const { name, fileName } = namesOf(attachment);
      const isMail = attachment.mimeType === 'message/rfc822';
      if (!isMail && (!settingsOf(input).eml.attachments || isPictureOfText(attachment))) return;
      const format = isMail ? 'eml' : children.detect(bytes, fileName);
      const facts: AttachmentFacts = { path: [...around, name], ...(format === undefined ? {} : { format }), outcome: 'indexed' };
      attachments.push(facts);
      const before = builder.mark();
      const read = attachments.length;
      try {
        // Mails are counted by depth, by whatever name they hang on their mail.
        if (format === 'eml') await writeMail(bytes, facts.path);
        else await writeChild(bytes, fileName, facts);
      } catch (error) {
        if (!(error instanceof SluiceError) || STOPS.has(error.code)) throw error;
        // All of it or nothing.
        builder.backTo(before);
        attachments.length = read;
        facts.outcome = isReason(error.code) ? error.code : 'corrupt';
        warnings.push(`attachment_not_read: ${name} (${error.code})`);
        return;
      }
      const place = builder.closeSection(before, facts.path);
      if (place === undefined) {
        facts.outcome = 'empty';
        warnings.push(`attachment_empty: ${name}`);
      } else Object.assign(facts, place);
    }

    async function writeChild(bytes: Uint8Array, name: string, { path }: AttachmentFacts): Promise<void> {
      const { settings, limits, passwords, signal } = input;
      const child = await children.parse({
        bytes,
        name,
        limits: { ...limits, textUnits: Math.max(0, limits.textUnits - builder.length) },
        ...(settings === undefined ? {} : { settings }),
        ...(passwords === undefined ? {} : { passwords }),
        ...(signal === undefined ? {} : { signal }),
      });
      appendDocument(builder, child, path);
      warnings.push(...child.warnings.map((warning) => `${warning} (${path.at(-1) ?? name})`));
    }
  };
}

/** What an attachment is called, and what it is called as a file: never a path. */
function namesOf(attachment: Attachment): { name: string; fileName: string } {
  const isMail = attachment.mimeType === 'message/rfc822';
  const name = oneLine(attachment.filename ?? '') || (isMail ? 'message' : 'attachment');
  return { name, fileName: name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1) };
}

/** What ends the mail, too: it is none of the attachment's own. */
const STOPS: ReadonlySet<string> = new Set(['parse_timeout', 'internal']);

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

/** The plain text where there is one that says anything, else the HTML, its headings under the mail's own at `level`. */
function writeBody(builder: DocumentBuilder, mail: Email, level: number, depth: number): void {
  const text = cleanText(mail.text ?? '').replace(CIPHERTEXT, '');
  const page = mail.html === undefined ? undefined : parseHtmlTree(cleanText(mail.html), depth);
  if (page !== undefined && (text.trim() === '' || isPlaceholder(text, page))) {
    writeHtml(page, builder, level);
    return;
  }
  for (const range of paragraphRanges(text)) {
    const paragraph = text.slice(range.start, range.end);
    const quoted = paragraph.split('\n').every((line) => line.startsWith('>'));
    const items = quoted ? undefined : itemsOf(text, range);
    if (quoted) builder.block('quote', paragraph.replace(/^(?:> ?)+/gm, ''));
    else if (items === undefined) builder.paragraph(paragraph);
    else builder.list(items.map(({ start, end }) => listItem(text.slice(start, end))));
  }
}

/** What only a key makes readable, and signatures. */
const CIPHERTEXT = /^-----BEGIN PGP (MESSAGE|SIGNATURE)-----$[\s\S]*?(?:^-----END PGP \1-----$|$(?![\s\S]))/gm;
/** Longest plain text that may stand in for a page (UTF-16 units). */
const MAX_PLACEHOLDER = 400;
const PLACEHOLDER =
  /\bhtml\b|\bbrowsers?\b|navigateur|navegador|multi-?part|e-?mail client|mail ?(?:program|reader)|view (?:this|it|the) (?:e-?mail|message|online)|nicht (?:richtig |korrekt )?(?:angezeigt|dargestellt)/i;

/** A plain text that only says that the text is in the HTML part, which holds far more. */
function isPlaceholder(text: string, page: HtmlNode): boolean {
  const plain = text.trim();
  if (plain.length > MAX_PLACEHOLDER || textOf(page).trim().length < 2 * plain.length) return false;
  const words = plain.replace(/\bhttps?:\S+/g, '').trim();
  return words === '' || PLACEHOLDER.test(words);
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
