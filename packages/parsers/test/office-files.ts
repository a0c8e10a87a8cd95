import { writeZip } from '../src/bench/zip-writer.js';

const TYPES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Relationships with the ids r1, r2, ... */
export function relationships(...targets: readonly (readonly [type: string, target: string])[]): string {
  const nodes = targets.map(
    ([type, target], index) => `<Relationship Id="r${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${nodes.join('')}</Relationships>`;
}

/** A Word document with this body, and further parts by name. */
export function docxOf(body: string, parts: Readonly<Record<string, string>> = {}): Uint8Array {
  const known = ['styles', 'numbering', 'footnotes', 'endnotes'].filter((name) => `word/${name}.xml` in parts);
  const spaces = ['w', 'mc', 'wps', 'v', 'm', 'r'].map((prefix) => `xmlns:${prefix}="urn:${prefix}"`).join(' ');
  return writeZip({
    '[Content_Types].xml': TYPES,
    '_rels/.rels': relationships(['officeDocument', 'word/document.xml'], ['core-properties', 'docProps/core.xml']),
    'word/_rels/document.xml.rels': relationships(...known.map((name) => [name, `${name}.xml`] as const)),
    'word/document.xml': `<?xml version="1.0"?><w:document ${spaces}><w:body>${body}</w:body></w:document>`,
    ...parts,
  });
}

/** A paragraph of Word with plain text, in a style if one is named. */
export function docxParagraph(text: string, style?: string): string {
  const properties = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export interface SheetOptions {
  /** Rows as XML. */
  rows: string;
  /** After the rows, such as merged cells. */
  after?: string;
  name?: string;
  state?: string;
}

/** An Excel workbook; styles are the cellXfs, number formats stand before them. */
export function xlsxOf(
  sheets: readonly SheetOptions[],
  options: { styles?: string; strings?: string; date1904?: boolean } = {},
): Uint8Array {
  const entries: Record<string, string> = {
    '[Content_Types].xml': TYPES,
    '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
    'xl/_rels/workbook.xml.rels': relationships(
      ...sheets.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/workbook.xml': `<workbook xmlns:r="${OFFICE}">${options.date1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${sheets
      .map(
        (sheet, index) =>
          `<sheet name="${sheet.name ?? `Sheet${index + 1}`}" sheetId="${index + 1}" r:id="r${index + 1}"${sheet.state ? ` state="${sheet.state}"` : ''}/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/styles.xml': `<styleSheet>${options.styles ?? '<cellXfs><xf numFmtId="0"/></cellXfs>'}</styleSheet>`,
    'xl/sharedStrings.xml': `<sst>${options.strings ?? ''}</sst>`,
  };
  for (const [index, sheet] of sheets.entries())
    entries[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet><sheetData>${sheet.rows}</sheetData>${sheet.after ?? ''}</worksheet>`;
  return writeZip(entries);
}

/** A PowerPoint presentation whose slides are given as the XML of their shape trees. */
export function pptxOf(
  slides: readonly { shapes: string; rels?: string; show?: string }[],
  parts: Readonly<Record<string, string>> = {},
): Uint8Array {
  const entries: Record<string, string> = {
    '[Content_Types].xml': TYPES,
    '_rels/.rels': relationships(['officeDocument', 'ppt/presentation.xml']),
    'ppt/_rels/presentation.xml.rels': relationships(
      ...slides.map((_, index) => ['slide', `slides/slide${index + 1}.xml`] as const),
    ),
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="${OFFICE}"><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="r${index + 1}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    ...parts,
  };
  for (const [index, slide] of slides.entries()) {
    entries[`ppt/slides/slide${index + 1}.xml`] =
      `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="${OFFICE}" xmlns:mc="mc" xmlns:dgm="dgm"${slide.show === undefined ? '' : ` show="${slide.show}"`}><p:cSld><p:spTree>${slide.shapes}</p:spTree></p:cSld></p:sld>`;
    if (slide.rels !== undefined) entries[`ppt/slides/_rels/slide${index + 1}.xml.rels`] = slide.rels;
  }
  return writeZip(entries);
}
