import type { OfficePackage } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, descend, relationshipId, textContent } from '../xml/xml-node.js';
import { meaningOf, type NumberMeaning } from './number-format.js';

interface Sheet {
  name: string;
  part: string | undefined;
  hidden: boolean;
}

export interface Workbook {
  sheets: Sheet[];
  is1904: boolean;
  strings: string[];
  /** Meaning of each cell style. */
  styles: NumberMeaning[];
}

export async function readWorkbook(office: OfficePackage): Promise<Workbook> {
  const relationships = await office.relationships(office.mainPart);
  const partOf = (type: string): string | undefined =>
    [...relationships.values()].find((relationship) => relationship.type === type)?.part;
  const workbook = await office.tree(office.mainPart);
  const sheets = childNodes(child(workbook, 'sheets'), 'sheet').map((node) => ({
    name: attribute(node, 'name') ?? '',
    part: relationships.get(relationshipId(node) ?? '')?.part,
    hidden: (attribute(node, 'state') ?? 'visible') !== 'visible',
  }));
  const date1904 = attribute(child(workbook, 'workbookPr'), 'date1904');
  return {
    sheets,
    is1904: date1904 === '1' || date1904 === 'true',
    strings: await readStrings(office, partOf('sharedStrings')),
    styles: readStyles(await office.tree(partOf('styles'))),
  };
}

async function readStrings(office: OfficePackage, part: string | undefined): Promise<string[]> {
  const strings: string[] = [];
  for await (const event of office.events(part, (name) => name === 'si'))
    if (event.type === 'node') strings.push(richText(event.node));
  return strings;
}

/** Text of a string, in one run or several; phonetic guides are left out. */
export function richText(node: XmlNode | undefined): string {
  return unescapeText(
    childNodes(node)
      .map((part) => (part.name === 't' ? textContent(part) : part.name === 'r' ? textContent(child(part, 't')) : ''))
      .join(''),
  );
}

/** `_x000D_` stands for a character that XML has no place for, `_x005F_` for an underscore before such a group (ST_Xstring). */
export function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function readStyles(root: XmlNode | undefined): NumberMeaning[] {
  const codes = new Map(
    childNodes(child(root, 'numFmts'), 'numFmt').map((node) => [attribute(node, 'numFmtId'), attribute(node, 'formatCode')]),
  );
  return childNodes(descend(root, 'cellXfs'), 'xf').map((node) => {
    const id = attribute(node, 'numFmtId') ?? '0';
    return meaningOf(Number(id), codes.get(id));
  });
}
