import type { FormatEntry } from '../format-entry.js';

export const xml: FormatEntry = {
  format: 'xml',
  version: 1,
  title: 'XML',
  extensions: ['xml', 'xsd', 'xsl', 'xslt', 'rss', 'atom', 'wsdl', 'dita', 'dbk', 'opml'],
  content: '-',
  reads:
    'The file as it is, parted at elements, each with its path, the attributes and the short elements of what encloses it. Document types are not read.',
  load: async () => (await import('./parse-xml.js')).parseXml,
};
