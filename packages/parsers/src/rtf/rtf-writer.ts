import type { DocumentBuilder, ListItem } from '../document-builder.js';
import { lowered, raised } from '../scripts.js';

/** Writes the paragraphs, lists and tables of an RTF file as its control words end them. */
export interface RtfWriter {
  text(text: string, script: 'super' | 'sub' | undefined): void;
  control(name: string, value: number | undefined): void;
  /** The level of heading that a style has. */
  style(number: number, level: number): void;
  /** The number or bullet of the paragraph that follows, as it is shown. */
  marker(text: string): void;
  note(text: string): void;
  close(): void;
}

const MAX_CELLS = 1_000;

export function createRtfWriter(builder: DocumentBuilder): RtfWriter {
  const styles = new Map<number, number>();
  const notes: string[] = [];
  let items: ListItem[] = [];
  let rows: string[][] = [];
  let cells: string[] = [];
  let words = '';
  let marker: string | undefined;
  let depth = 0;
  let level: number | undefined;
  let inTable = false;

  function flushList(): void {
    builder.list(items);
    items = [];
  }

  function flushTable(): void {
    if (rows.length > 0) builder.table(rows, { headerRows: 1 });
    rows = [];
  }

  function endParagraph(): void {
    const text = words;
    words = '';
    if (inTable) {
      // Paragraphs of one cell.
      words = text.trim() === '' ? text : `${text} `;
      return;
    }
    const own = marker;
    marker = undefined;
    if (text.trim() === '') return;
    flushTable();
    if (level === undefined && own !== undefined) items.push({ text, depth, marker: own });
    else {
      flushList();
      if (level === undefined) builder.paragraph(text);
      else builder.heading(level, own === undefined || own === '-' ? text : `${own} ${text}`);
    }
  }

  return {
    text(text, script) {
      if (inTable === false && rows.length > 0 && text.trim() !== '') flushTable();
      words += script === 'super' ? raised(words, text) : script === 'sub' ? lowered(words, text) : text;
    },
    control(name, value) {
      switch (name) {
        case 'par':
        case 'sect':
        case 'page':
          endParagraph();
          return;
        case 'pard':
          level = undefined;
          depth = 0;
          inTable = false;
          return;
        case 'intbl':
          if (!inTable && cells.length === 0 && rows.length === 0) flushList();
          inTable = true;
          return;
        case 'cell':
        case 'nestcell':
          if (cells.length < MAX_CELLS) cells.push(words);
          words = '';
          marker = undefined;
          return;
        case 'row':
        case 'nestrow':
          flushList();
          rows.push(cells);
          cells = [];
          inTable = false;
          return;
        case 's':
          level = styles.get(value ?? 0) ?? level;
          return;
        case 'outlinelevel':
          if (value !== undefined && value < 9) level = value + 1;
          return;
        case 'ilvl':
          depth = Math.min(8, Math.max(0, value ?? 0));
      }
    },
    style: (number, heading) => styles.set(number, heading),
    marker(text) {
      const shown = text.trim();
      marker = shown === '' || /^[^\p{L}\p{N}]+$/u.test(shown) ? '-' : shown;
    },
    note(text) {
      notes.push(text);
      words += `[${notes.length}]`;
    },
    close() {
      inTable = false;
      if (cells.length > 0) rows.push(cells);
      flushTable();
      endParagraph();
      flushList();
      flushTable();
      for (const [index, note] of notes.entries()) builder.paragraph(`[${index + 1}] ${note.trim()}`);
    },
  };
}
