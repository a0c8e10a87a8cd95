import type { FormatEntry } from '../format-entry.js';

export const rst: FormatEntry = {
  format: 'rst',
  version: 1,
  title: 'reStructuredText',
  extensions: ['rst', 'rest'],
  content: '-',
  reads:
    'The file as it is: headings by their lines of marks, literal and code blocks, grid and simple tables, lists, paragraphs.',
  load: async () => (await import('./parse-rst.js')).parseRst,
};
