import type { FormatEntry } from '../format-entry.js';

export const asciidoc: FormatEntry = {
  format: 'asciidoc',
  version: 1,
  title: 'AsciiDoc',
  extensions: ['adoc', 'asciidoc', 'asc'],
  content: '-',
  reads: 'The file as it is: headings by their signs, listing and literal blocks, tables with one row a line, lists, paragraphs.',
  load: async () => (await import('./parse-asciidoc.js')).parseAsciidoc,
};
