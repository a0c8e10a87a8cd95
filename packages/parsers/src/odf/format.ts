import type { FormatEntry } from '../format-entry.js';

export const odf: FormatEntry = {
  format: 'odf',
  version: 1,
  title: 'OpenDocument text, sheets, slides',
  extensions: ['odt', 'ods', 'odp', 'ott', 'ots', 'otp'],
  content: 'zip archive with the `mimetype` of OpenDocument',
  reads:
    'Text in order: headings, lists with their numbers, tables, text boxes, notes at the end. Sheets as Excel is read, cells as shown; hidden ones only with `xlsx.hidden_sheets`. Slides with `page`, notes with `pptx.notes`. Not read: headers and footers, deleted text, comments, pictures, charts.',
  parts: ['mimetype', 'content.xml'],
  load: async () => (await import('./parse-odf.js')).parseOdf,
};
