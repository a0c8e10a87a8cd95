import { lowered, raised } from '../scripts.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, descend, textContent } from '../xml/xml-node.js';

export interface SlideParagraph {
  text: string;
  /** 0 for the outermost level. */
  depth: number;
  bullet: 'yes' | 'no' | 'inherited';
}

/** Placeholders that repeat on every slide. */
const FURNITURE = new Set(['sldNum', 'dt', 'ftr', 'hdr']);

/** All shapes that may hold text in the order of the slide; those in groups too, alternatives once. */
export function shapesOf(tree: XmlNode | undefined): XmlNode[] {
  return childNodes(tree).flatMap((node) => {
    switch (node.name) {
      case 'sp':
      case 'cxnSp':
        return FURNITURE.has(placeholderOf(node) ?? '') || isHidden(node) ? [] : [node];
      case 'graphicFrame':
        return isHidden(node) ? [] : [node];
      case 'grpSp':
        return isHidden(node) ? [] : shapesOf(node);
      case 'AlternateContent':
        return shapesOf(child(node, 'Choice') ?? child(node, 'Fallback'));
      default:
        return [];
    }
  });
}

function propertiesOf(shape: XmlNode): XmlNode | undefined {
  return childNodes(shape).find((node) => /^nv\w+Pr$/.test(node.name));
}

function isHidden(shape: XmlNode): boolean {
  return attribute(child(propertiesOf(shape), 'cNvPr'), 'hidden') === '1';
}

/** The kind of placeholder a shape is; `body` for one without a type; undefined when it is none. */
export function placeholderOf(shape: XmlNode): string | undefined {
  const placeholder = descend(propertiesOf(shape), 'nvPr', 'ph');
  return placeholder === undefined ? undefined : (attribute(placeholder, 'type') ?? 'body');
}

export function shapeParagraphs(shape: XmlNode): SlideParagraph[] {
  const body = child(shape, 'txBody') ?? child(shape, 't');
  return childNodes(body, 'p').map((paragraph) => {
    const properties = child(paragraph, 'pPr');
    const bullet = child(properties, 'buNone') !== undefined ? 'no' : hasBullet(properties) ? 'yes' : 'inherited';
    return { text: runsText(paragraph), depth: Math.min(8, Number(attribute(properties, 'lvl') ?? 0) || 0), bullet };
  });
}

function hasBullet(properties: XmlNode | undefined): boolean {
  return child(properties, 'buChar') !== undefined || child(properties, 'buAutoNum') !== undefined;
}

function runsText(paragraph: XmlNode): string {
  let text = '';
  for (const node of childNodes(paragraph)) {
    if (node.name === 'br') text += '\n';
    else if (node.name === 'AlternateContent') text += runsText(child(node, 'Choice') ?? node);
    else if (node.name === 'r' || node.name === 'fld') text += runText(node, text);
    else if (node.name === 'm' || node.name === 'oMathPara' || node.name === 'oMath') text += textContent(node);
  }
  return text;
}

function runText(run: XmlNode, before: string): string {
  const text = textContent(child(run, 't'));
  const baseline = Number(attribute(child(run, 'rPr'), 'baseline') ?? 0);
  return baseline > 0 ? raised(before, text) : baseline < 0 ? lowered(before, text) : text;
}

/** Rows of a table; cells that are merged into one repeat its text. */
export function tableRows(table: XmlNode): { rows: string[][]; headerRows: number } {
  const rows: string[][] = [];
  for (const row of childNodes(table, 'tr')) {
    const above = rows.at(-1);
    const cells: string[] = [];
    for (const cell of childNodes(row, 'tc')) {
      const merged =
        attribute(cell, 'vMerge') === '1' ? above?.[cells.length] : attribute(cell, 'hMerge') === '1' ? cells.at(-1) : undefined;
      const own = childNodes(child(cell, 'txBody'), 'p').map(runsText).join(' ');
      cells.push(merged ?? own);
    }
    rows.push(cells);
  }
  const first = attribute(child(table, 'tblPr'), 'firstRow');
  return { rows, headerRows: first === '0' ? 0 : 1 };
}
