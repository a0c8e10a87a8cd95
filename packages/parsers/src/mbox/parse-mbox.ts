import { type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import { appendElements } from '../append-document.js';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import type { ChildParser } from '../format-entry.js';
import { breathe } from '../limits.js';

/** Mailboxes (RFC 4155): mails parted by lines that begin with `From `. */
export function createMboxParser(children: ChildParser): (input: ParseInput) => Promise<ParsedDocument> {
  return async (input) => {
    const builder = createDocumentBuilder(input.limits);
    const warnings: string[] = [];
    let number = 0;
    for (const bytes of mailsOf(input.bytes)) {
      await breathe(input);
      number++;
      if (number > input.limits.archiveEntries)
        throw new SluiceError('limit_exceeded', `${input.name} has more mails than limits.archive_entries allows`);
      try {
        const limits = { ...input.limits, textUnits: Math.max(0, input.limits.textUnits - builder.length) };
        const mail = await children.parse({ ...input, bytes, name: 'mail.eml', limits });
        appendElements(builder, mail);
        warnings.push(...mail.warnings.map((warning) => `${warning} (mail ${number})`));
      } catch (error) {
        if (!(error instanceof SluiceError) || ['parse_timeout', 'internal', 'limit_exceeded'].includes(error.code)) throw error;
        warnings.push(`mail_not_read: ${number} (${error.code})`);
      }
    }
    return finishBuilt('mbox', builder, { metadata: {}, warnings });
  };
}

/** The mails without the lines that part them; `>From ` at the start of a line was `From `. */
function* mailsOf(bytes: Uint8Array): Generator<Uint8Array> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  while (start < source.length) {
    const next = nextMail(source, start + 1);
    const headEnd = source.indexOf('\n', start) + 1;
    const mail = source.subarray(headEnd > 0 && headEnd < next ? headEnd : start, next);
    const text = mail.includes('\n>From ') ? Buffer.from(mail.toString('latin1').replace(/^>(>*From )/gm, '$1'), 'latin1') : mail;
    if (text.length > 0) yield new Uint8Array(text.buffer, text.byteOffset, text.byteLength);
    start = next;
  }
}

/** A mail begins at a `From ` line behind a blank line, with a header below it. */
function nextMail(source: Buffer, from: number): number {
  for (let at = source.indexOf('\nFrom ', from); at >= 0; at = source.indexOf('\nFrom ', at + 1)) {
    const before = source.toString('latin1', Math.max(0, at - 2), at + 1);
    const after = source.toString('latin1', at + 1, Math.min(source.length, at + 400));
    if (/\n\r?\n$/.test(before) && /^From \S+.*\d{4}[^\r\n]*\r?\n[\w-]+:/.test(after)) return at + 1;
  }
  return source.length;
}
