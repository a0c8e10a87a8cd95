import type { FormatEntry } from '../format-entry.js';

export const ipynb: FormatEntry = {
  format: 'ipynb',
  version: 1,
  title: 'Jupyter notebook',
  extensions: ['ipynb'],
  content: '-',
  reads:
    'Cells in order: Markdown as such, code in the language of the notebook, text that it printed. Not read: pictures, HTML output.',
  load: async (children) => (await import('./parse-ipynb.js')).createIpynbParser(children),
};
