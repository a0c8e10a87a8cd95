import type { DocumentBuilder, ListItem } from '../document-builder.js';
import type { XmlEvent, XmlNode } from '../xml/xml-events.js';
import { attribute, attributeOf, childNodes } from '../xml/xml-node.js';
import { createOdfRows, odfRowsOf } from './odf-table.js';
import { NOTE_MARK, noteText, type OdfStyles, odfBlockText, readOdfParagraph } from './odf-text.js';

type Edge = Exclude<XmlEvent, { type: 'node' }>;

/** Writes the blocks of a text or of slides as they come. */
export interface OdfWriter {
  node(node: XmlNode): void;
  /** Where a slide, a frame or notes open and close. */
  edge(edge: Edge): void;
  close(): void;
}

export function createOdfWriter(
  builder: DocumentBuilder,
  styles: OdfStyles,
  { notes: readNotes }: { notes: boolean },
): OdfWriter {
  const notes: XmlNode[] = [];
  let page: number | undefined;
  let inNotes = 0;
  let isTitle = false;
  /** Numbers go on where a list says so. */
  let lastNumber = 0;

  const place = (): { page?: number } => (page === undefined ? {} : { page });

  function textOf(node: XmlNode): { text: string; boxes: XmlNode[] } {
    const paragraph = readOdfParagraph(node, styles.positions);
    let next = 0;
    const text = paragraph.text.replaceAll(NOTE_MARK, () => {
      const note = paragraph.notes[next++];
      if (note === undefined) return '';
      notes.push(note);
      return `[${notes.length}]`;
    });
    return { text, boxes: paragraph.boxes };
  }

  function write(node: XmlNode): void {
    const { text, boxes } = textOf(node);
    const names = styles.namesOf(attribute(node, 'style-name') ?? '');
    if (node.name === 'h') builder.heading(Number(attribute(node, 'outline-level') ?? 1) || 1, text, place());
    else if (isTitle || names.includes('Title')) builder.heading(1, text, place());
    else if (names.includes('Quotations')) builder.block('quote', text, place());
    else if (names.some((name) => /^Preformatted/.test(name))) builder.code(text, place());
    else builder.paragraph(text, place());
    for (const box of boxes) builder.paragraph(odfBlockText(box, styles.positions), place());
  }

  function itemsOf(list: XmlNode, depth: number, style: string): ListItem[] {
    const own = attribute(list, 'style-name') ?? style;
    const marker = styles.lists.get(own)?.[depth];
    let number = depth === 0 && attribute(list, 'continue-numbering') === 'true' ? lastNumber : 0;
    const items: ListItem[] = [];
    for (const item of childNodes(list)) {
      if (item.name !== 'list-item' && item.name !== 'list-header') continue;
      const start = Number(attribute(item, 'start-value') ?? Number.NaN);
      if (item.name === 'list-item') number = Number.isNaN(start) ? number + 1 : start;
      const texts = childNodes(item)
        .filter(({ name }) => name === 'p' || name === 'h')
        .map((paragraph) => textOf(paragraph).text);
      items.push({
        text: texts.join(' '),
        depth: Math.min(depth, 8),
        marker: item.name === 'list-header' ? '-' : (marker?.(number) ?? '-'),
      });
      for (const inner of childNodes(item, 'list')) items.push(...itemsOf(inner, depth + 1, own));
    }
    if (depth === 0) lastNumber = number;
    return items;
  }

  function writeList(list: XmlNode): void {
    // Headings with numbers are written as items of a list.
    const headings = childNodes(list).flatMap((item) => childNodes(item, 'h'));
    const items = itemsOf(list, 0, '');
    if (headings.length > 0 && items.every(({ text }) => text === '' || headings.length === items.length))
      headings.forEach(write);
    else if (isTitle) builder.heading(1, items.map(({ text }) => text).join(' '), place());
    else builder.list(items, place());
  }

  return {
    node(node) {
      if (inNotes > 0 && !readNotes) return;
      if (node.name === 'list') writeList(node);
      else if (node.name === 'table') {
        const { rows, headerRows } = odfRowsOf(node);
        const reader = createOdfRows((cell) => odfBlockText(cell, styles.positions));
        const grid = rows.map((row) => reader.read(row).cells);
        const width = grid.reduce((widest, cells) => Math.max(widest, cells.length), 0);
        const even = grid.map((cells) => cells.concat(Array.from({ length: width - cells.length }, () => '')));
        builder.table(even, { headerRows: Math.max(1, headerRows), ...place() });
      } else if (node.name === 'p' || node.name === 'h') write(node);
    },
    edge(edge) {
      const isOpen = edge.type === 'open';
      if (edge.name === 'page' && isOpen) page = (page ?? 0) + 1;
      else if (edge.name === 'notes') inNotes += isOpen ? 1 : -1;
      else if (edge.name === 'frame') isTitle = edge.type === 'open' && attributeOf(edge.attributes, 'class') === 'title';
    },
    close() {
      for (const [index, note] of notes.entries()) builder.paragraph(`[${index + 1}] ${noteText(note, styles.positions)}`);
    },
  };
}
