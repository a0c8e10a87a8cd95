import { writeZip } from './zip-writer.js';

const ODF = 'urn:oasis:names:tc:opendocument:xmlns';
const SPACES = ['office', 'text', 'table', 'style', 'meta', 'presentation']
  .map((name) => `xmlns:${name}="${ODF}:${name}:1.0"`)
  .concat(`xmlns:draw="${ODF}:drawing:1.0"`, 'xmlns:dc="http://purl.org/dc/elements/1.1/"')
  .join(' ');

/** An OpenDocument file with this body and these automatic styles, as XML. */
export function makeOdf(
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  { styles = '', parts = {} }: { styles?: string; parts?: Readonly<Record<string, string>> } = {},
): Uint8Array {
  return writeZip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'content.xml': `<?xml version="1.0"?><office:document-content ${SPACES}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    'meta.xml': `<?xml version="1.0"?><office:document-meta ${SPACES}><office:meta><dc:title>Care</dc:title><dc:creator>Ida</dc:creator><meta:creation-date>2024-05-01T10:00:00</meta:creation-date></office:meta></office:document-meta>`,
    ...parts,
  });
}

/** A book whose chapters are the bodies of XHTML pages. */
export function makeEpub(chapters: readonly string[], parts: Readonly<Record<string, string>> = {}): Uint8Array {
  const names = chapters.map((_, index) => `c${index + 1}.xhtml`);
  const items = names.map((name, index) => `<item id="i${index + 1}" href="text/${name}" media-type="application/xhtml+xml"/>`);
  const spine = names.map((_, index) => `<itemref idref="i${index + 1}"/>`);
  return writeZip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    'OEBPS/book.opf': `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Kettles</dc:title><dc:creator>Ida</dc:creator><dc:language>en-GB</dc:language><dc:date>2024-05-01</dc:date></metadata><manifest>${items.join('')}<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest><spine><itemref idref="nav"/>${spine.join('')}</spine></package>`,
    'OEBPS/nav.xhtml':
      '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><a href="text/c1.xhtml">Contents</a></nav></body></html>',
    ...Object.fromEntries(
      names.map((name, index) => [
        `OEBPS/text/${name}`,
        `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${chapters[index]}</body></html>`,
      ]),
    ),
    ...parts,
  });
}

/** An RTF file with this body. */
export function makeRtf(body: string): Uint8Array {
  const head =
    '{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial Cyr;}}{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 heading 1;}{\\s2\\outlinelevel1 heading 2;}}{\\info{\\title Care}{\\author Ida}}';
  return new Uint8Array(Buffer.from(`${head}${body}}`, 'latin1'));
}

/** Text as RTF writes it. */
export function rtfText(text: string): string {
  return text.replace(/[\\{}]/g, '\\$&').replace(/[^\x00-\x7f]/g, (char) => `\\u${char.charCodeAt(0)}?`);
}
