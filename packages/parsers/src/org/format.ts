import type { FormatEntry } from '../format-entry.js';

export const org: FormatEntry = {
  format: 'org',
  version: 1,
  title: 'Org mode',
  extensions: ['org'],
  content: '-',
  reads: 'The file as it is: headings by their stars, source blocks, tables, lists, paragraphs; the title.',
  load: async () => (await import('./parse-org.js')).parseOrg,
};
