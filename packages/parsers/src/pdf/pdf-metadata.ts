import type { SelfMetadata } from '@sluice/core';
import { oneLine } from '../clean-text.js';
import type { PdfDocument } from './pdf-types.js';

/** Titles that a program put in for want of one. */
const NO_TITLE = /^(?:untitled|unknown|document\d*|microsoft word - .*|.*\.(?:docx?|tex|dvi|indd|pdf|rtf|xlsx?|pptx?))$/i;

export async function pdfMetadata(document: PdfDocument): Promise<{ metadata: SelfMetadata; lang: string | undefined }> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} as Record<string, unknown> }));
  const text = (key: string): string => (typeof info[key] === 'string' ? oneLine(info[key]) : '');
  const metadata: SelfMetadata = {};
  if (text('Title') !== '' && !NO_TITLE.test(text('Title'))) metadata.doc_title = text('Title');
  if (text('Author') !== '') metadata.author = text('Author');
  const created = pdfDate(text('CreationDate'));
  if (created !== undefined) metadata.created_at = created;
  const tags = text('Keywords')
    .split(/[,;]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (tags.length > 0) metadata.tags = tags;
  return { metadata, lang: /^[a-z]{2}(?=$|[-_])/.exec(text('Language').toLowerCase())?.[0] };
}

/** A PDF date, `D:YYYYMMDDHHmmSSOHH'mm'` (ISO 32000-1, 7.9.4), in UTC. Without an offset it is taken as UTC. */
function pdfDate(text: string): string | undefined {
  const match = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/.exec(text);
  if (match === null) return undefined;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    sign,
    offsetHours = '00',
    offsetMinutes = '00',
  ] = match;
  const zone = sign === undefined ? 'Z' : `${sign}${offsetHours}:${offsetMinutes}`;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
