import type { ParsedDocument } from '@sluice/core';
import { appendElements } from '../append-document.js';
import type { DocumentBuilder, ListItem } from '../document-builder.js';
import { type Chart, writeChart } from '../office/chart.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes } from '../xml/xml-node.js';
import { createRowReader, type RowReader, rowsOf } from './docx-table.js';
import { endIsDeleted, NOTE_MARK, type ParagraphText, readParagraph } from './runs.js';
import { headingOfOutline, type Numbering, numberingOf, type StyleRole, type Styles } from './styles.js';

type Note = ParagraphText['notes'][number];

/** Writes the blocks of a document's body as they come. */
export interface BodyWriter {
  paragraph(node: XmlNode): void;
  openTable(): void;
  row(node: XmlNode): void;
  closeTable(): void;
  /** A document that stands at this place. */
  embedded(document: ParsedDocument): void;
  /** All text of a cell, a note or a text box on one line. */
  cellText(node: XmlNode): string;
  /** Writes what is pending, then the notes in the order of their marks. */
  close(textOfNote: (note: Note) => string | undefined): void;
}

export function createBodyWriter(
  builder: DocumentBuilder,
  { styles, numbering, charts }: { styles: Styles; numbering: Numbering; charts: ReadonlyMap<string, Chart> },
): BodyWriter {
  const notes: Note[] = [];
  let items: ListItem[] = [];
  /** The numbering that the outer items of the pending list have. */
  let listId: string | undefined;
  let code: string[] = [];
  /** Text of paragraphs whose end was deleted. */
  let carried = '';
  let table: { reader: RowReader; rows: string[][] } | undefined;

  function flush(): void {
    builder.list(items);
    if (code.length > 0) builder.code(code.join('\n'));
    items = [];
    listId = undefined;
    code = [];
  }

  function read(node: XmlNode): ParagraphText {
    const paragraph = readParagraph(node);
    let next = 0;
    paragraph.text = paragraph.text.replaceAll(NOTE_MARK, () => {
      const note = paragraph.notes[next++];
      if (note === undefined) return '';
      notes.push(note);
      return `[${notes.length}]`;
    });
    return paragraph;
  }

  function roleOf(node: XmlNode): StyleRole {
    const properties = child(node, 'pPr');
    const style = styles.get(attribute(child(properties, 'pStyle'), 'val') ?? '') ?? {};
    const heading = headingOfOutline(properties) ?? style.heading;
    const own = numberingOf(properties) ?? style.numbering;
    return { ...style, ...(heading === undefined ? {} : { heading }), ...(own === undefined ? {} : { numbering: own }) };
  }

  function write(role: StyleRole, paragraph: ParagraphText): void {
    const { text } = paragraph;
    if (role.kind === 'code') {
      if (items.length > 0) flush();
      code.push(text);
      return;
    }
    const { numbering: place } = role;
    // numId 0 takes a paragraph out of its style's list.
    const marker = place === undefined || place.numId === '0' ? undefined : numbering.marker(place.numId, place.level);
    if (text.trim() === '') return;
    if (role.heading !== undefined) {
      flush();
      builder.heading(role.heading, marker === undefined || marker === '-' ? text : `${marker} ${text}`);
    } else if (marker !== undefined && place !== undefined) {
      // Outer items of another numbering begin another list.
      if (code.length > 0 || (place.level === 0 && listId !== undefined && listId !== place.numId)) flush();
      if (place.level === 0) listId = place.numId;
      items.push({ text, depth: place.level, marker });
    } else {
      flush();
      if (paragraph.isFormula) builder.block('formula', text);
      else builder.block(role.kind ?? 'paragraph', text);
    }
  }

  function cellText(node: XmlNode): string {
    const words: string[] = [];
    const walk = (inner: XmlNode): void => {
      if (inner.name === 'p') {
        const paragraph = read(inner);
        words.push(paragraph.text);
        for (const box of paragraph.boxes) walk(box);
      } else if (inner.name === 'tbl') {
        const reader = createRowReader(cellText);
        for (const row of rowsOf(inner)) words.push(unrepeated(reader.read(row) ?? []).join(' '));
      } else if (inner.name !== 'del' && inner.name !== 'moveFrom') for (const next of childNodes(inner)) walk(next);
    };
    for (const inner of childNodes(node)) walk(inner);
    return words
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join(' ');
  }

  return {
    paragraph(node) {
      const paragraph = read(node);
      paragraph.text = carried + paragraph.text;
      carried = '';
      if (endIsDeleted(node)) carried = paragraph.text;
      else write(roleOf(node), paragraph);
      for (const box of paragraph.boxes) {
        flush();
        builder.paragraph(cellText(box));
      }
      for (const id of paragraph.charts) {
        const chart = charts.get(id);
        if (chart === undefined) continue;
        flush();
        writeChart(builder, chart);
      }
    },
    embedded(document) {
      flush();
      appendElements(builder, document);
    },
    openTable() {
      // A table can't go on with a paragraph, even one whose end was deleted: its text stands before the table.
      if (carried !== '') write({}, { text: carried, boxes: [], notes: [], charts: [], isFormula: false });
      carried = '';
      flush();
      table = { reader: createRowReader(cellText), rows: [] };
    },
    row(node) {
      const cells = table?.reader.read(node);
      if (cells !== undefined) table?.rows.push(cells);
    },
    closeTable() {
      if (table !== undefined) builder.table(table.rows, { headerRows: Math.max(1, table.reader.headerRows) });
      table = undefined;
    },
    cellText,
    close(textOfNote) {
      if (carried.trim() !== '') builder.paragraph(carried);
      flush();
      for (let number = 1; number <= notes.length; number++) {
        const note = notes[number - 1];
        const text = note === undefined ? undefined : textOfNote(note);
        if (text) builder.paragraph(`[${number}] ${text}`);
      }
    },
  };
}

/** Cells without the repetitions that spans bring. */
function unrepeated(cells: readonly string[]): string[] {
  return cells.filter((text, index) => text !== cells[index - 1]);
}
