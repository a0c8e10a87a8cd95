import type { FormatEntry } from '../format-entry.js';

export const epub: FormatEntry = {
  format: 'epub',
  version: 1,
  title: 'EPUB',
  extensions: ['epub'],
  content: 'zip archive with the `mimetype` of EPUB',
  reads:
    'Chapters in reading order (the spine), each as HTML is read; title, author, date and language of the book. Not read: pictures, the table of contents. A book that is encrypted is `password_required`.',
  parts: ['mimetype', 'META-INF/container.xml'],
  load: async () => (await import('./parse-epub.js')).parseEpub,
};
