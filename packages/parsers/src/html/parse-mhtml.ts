import { type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import { readMail } from '../eml/read-mail.js';
import { readHtml } from './parse-html.js';

/** A page saved whole by a browser or by Word: a mail whose text is the page and whose attachments are what the page shows. */
export async function parseMhtml(input: ParseInput): Promise<ParsedDocument> {
  const { mail, warnings } = await readMail(input.bytes, input);
  const text = mail.html ?? mail.text;
  if (text === undefined) throw new SluiceError('corrupt', `${input.name} is a web archive without a page`);
  return readHtml('mhtml', { text, warnings }, input);
}
