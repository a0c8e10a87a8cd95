import type { Element, ElementKind, ParseLimits } from '@sluice/core';
import { cleanText, oneLine, trimLines } from './clean-text.js';
import { checkTextLength } from './limits.js';

export interface ListItem {
  text: string;
  /** 0 for the outermost list. */
  depth: number;
  /** As written before the item, `-` or `3.`. */
  marker: string;
}

interface Place {
  page?: number;
  /** Goes on in the middle of a sentence from the element before: parted from it by a line break, not by a blank line. */
  continues?: boolean;
  /** Of a file within the file: see `Element.path`. */
  path?: string[];
}

/** Takes the rows of one table, so that a table of any length is never held twice. */
interface TableBuilder {
  row(cells: readonly string[]): void;
  close(): void;
}

interface BuilderMark {
  pieces: number;
  elements: number;
  length: number;
}

/**
 * Builds the text of a document that is no text file, with exact offsets: elements are parted by a blank line, headings are plain
 * lines, lists have a line an item, tables are GitHub Markdown (header, separator line, one line a row; a table without header has
 * rows only). Everything visible in the text lies in an element.
 */
export interface DocumentBuilder {
  heading(level: number, text: string, place?: Place): void;
  paragraph(text: string, place?: Place): void;
  list(items: readonly ListItem[], place?: Place): void;
  code(text: string, options?: Place & { lang?: string }): void;
  /** Any other kind of plain text. */
  block(kind: ElementKind, text: string, place?: Place): void;
  table(rows: readonly (readonly string[])[], options?: Place & { headerRows?: number }): void;
  openTable(options?: Place & { headerRows?: number }): TableBuilder;
  /** Length of the text so far. */
  readonly length: number;
  /** The text so far. */
  written(): string;
  /** A place to come back to. */
  mark(): BuilderMark;
  /** Takes back everything that was added since. */
  backTo(mark: BuilderMark): void;
  /** Where the elements added since stand; undefined when there are none. Those without a path get this one. */
  closeSection(mark: BuilderMark, path: readonly string[]): { start: number; end: number } | undefined;
  build(): { text: string; elements: Element[] };
}

type Draft = Omit<Element, 'text'>;

const PIPE = /\|/g;

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replace(PIPE, '\\|')).join(' | ')} |`;
}

export function createDocumentBuilder(limits: ParseLimits): DocumentBuilder {
  const pieces: string[] = [];
  const drafts: Draft[] = [];
  let length = 0;

  function write(piece: string): void {
    pieces.push(piece);
    length += piece.length;
    checkTextLength(length, limits);
  }

  /** Starts an element: parts it from the one before. */
  function begin(continues = false): number {
    if (drafts.length > 0) write(continues ? '\n' : '\n\n');
    return length;
  }

  function add(kind: ElementKind, text: string, { continues, ...facts }: Partial<Draft> & Place): void {
    if (text === '') return;
    const start = begin(continues);
    write(text);
    drafts.push({ kind, start, end: length, ...facts });
  }

  function openTable(options: Place & { headerRows?: number } = {}): TableBuilder {
    const headerRows = options.headerRows ?? 1;
    const rows: string[][] = [];
    const parts: { start: number; end: number }[] = [];
    let start = -1;
    return {
      row(cells) {
        const line = cells.map(oneLine);
        if (line.every((cell) => cell === '')) return;
        if (start < 0) start = begin();
        else write('\n');
        const from = length;
        write(tableLine(line));
        parts.push({ start: from, end: length });
        rows.push(line);
        if (rows.length === headerRows) write(`\n|${' --- |'.repeat(line.length)}`);
      },
      close() {
        if (start < 0) return;
        const { page, path } = options;
        drafts.push({
          kind: 'table',
          start,
          end: length,
          rows,
          parts,
          headerRows: Math.min(headerRows, rows.length),
          ...(page === undefined ? {} : { page }),
          ...(path === undefined ? {} : { path }),
        });
      },
    };
  }

  return {
    heading: (level, text, place = {}) => add('heading', oneLine(text), { level: Math.max(1, level), ...place }),
    paragraph: (text, place = {}) => add('paragraph', trimLines(text), place),
    block: (kind, text, place = {}) => add(kind, trimLines(text), place),
    code(text, options = {}) {
      const body = cleanText(text)
        .replace(/^(?:[ \t]*\n)+/, '')
        .trimEnd();
      add('code', body, options);
    },
    list(items, place = {}) {
      const lines = items
        .map((item) => ({ ...item, text: trimLines(item.text).replaceAll('\n', ' ') }))
        .filter((item) => item.text !== '');
      if (lines.length === 0) return;
      const start = begin();
      const parts: { start: number; end: number }[] = [];
      for (const [index, item] of lines.entries()) {
        if (index > 0) write('\n');
        write('  '.repeat(item.depth));
        const from = length;
        write(`${item.marker} ${item.text}`);
        const last = parts.at(-1);
        // A nested item belongs to the outer item it stands under.
        if (item.depth > 0 && last !== undefined) last.end = length;
        else parts.push({ start: from, end: length });
      }
      // The indent of a first item that is nested lies outside: elements begin with a visible character.
      const from = parts[0]?.start ?? start;
      drafts.push({ kind: 'list', start: from, end: length, parts, ...place });
    },
    table(rows, options = {}) {
      const table = openTable(options);
      for (const row of rows) table.row(row);
      table.close();
    },
    openTable,
    written: () => pieces.join(''),
    mark: () => ({ pieces: pieces.length, elements: drafts.length, length }),
    backTo(mark) {
      pieces.length = mark.pieces;
      drafts.length = mark.elements;
      length = mark.length;
    },
    closeSection(mark, path) {
      const [first, last] = [drafts[mark.elements], drafts.at(-1)];
      for (const draft of drafts.slice(mark.elements)) draft.path ??= [...path];
      return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end };
    },
    get length() {
      return length;
    },
    build() {
      const text = pieces.join('');
      pieces.length = 0;
      return { text, elements: drafts.map((draft) => ({ ...draft, text: text.slice(draft.start, draft.end) })) };
    },
  };
}
