import type { FormatEntry } from '../format-entry.js';

export const rtf: FormatEntry = {
  format: 'rtf',
  version: 1,
  title: 'RTF',
  extensions: ['rtf'],
  content: '`{\\rtf`, also named `.doc`',
  reads:
    'Paragraphs, headings by style and outline level, lists with their markers, tables, results of fields, footnotes at the end; title and author. Not read: headers and footers, hidden and deleted text, pictures, objects.',
  neverEmpty: true,
  recognises: (head) => /^\s{0,8}\{\\rtf/.test(head),
  load: async () => (await import('./parse-rtf.js')).parseRtf,
};
