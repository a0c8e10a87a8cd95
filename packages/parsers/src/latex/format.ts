import type { FormatEntry } from '../format-entry.js';

export const latex: FormatEntry = {
  format: 'latex',
  version: 1,
  title: 'LaTeX',
  extensions: ['tex', 'latex', 'ltx'],
  content: '-',
  reads:
    'The file as it is: headings by sectioning commands, displayed formulas, verbatim text and listings, tables, abstracts and quotes, lists, paragraphs; the title. Files that it includes are documents of their own.',
  load: async () => (await import('./parse-latex.js')).parseLatex,
};
