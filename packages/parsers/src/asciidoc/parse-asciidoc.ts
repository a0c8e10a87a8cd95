import type { ParsedDocument, ParseInput } from '@sluice/core';
import type { MarkupLine } from '../markup/markup-lines.js';
import { linesUntil, type MarkupBlock, parseMarkup } from '../markup/parse-markup.js';

/** AsciiDoc. */
export function parseAsciidoc(input: ParseInput): Promise<ParsedDocument> {
  return parseMarkup(input, 'asciidoc', () => blockAt);
}

const FENCE = /^(-{4,}|\.{4,}|`{3,}|\+{4,}|\/{4,}|_{4,})\s*$/;
const SOURCE = /^\[(?:source|,)?\s*,?\s*([\w+#-]+)?[^\]]*\]\s*$/;

function blockAt(lines: readonly MarkupLine[], at: number): MarkupBlock | undefined {
  const line = lines[at]?.text ?? '';
  const heading = /^(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$/.exec(line);
  if (heading?.[1] !== undefined) return { kind: 'heading', level: heading[1].length, title: heading[2] ?? '', lines: 1 };
  const attributes = /^\[[^\]]*\]\s*$/.test(line) ? 1 : 0;
  const fence = FENCE.exec(lines[at + attributes]?.text ?? '') ?? /^(```+)[\w+#-]*\s*$/.exec(lines[at + attributes]?.text ?? '');
  if (fence?.[1] !== undefined) {
    const mark = fence[1];
    const end = linesUntil(lines, at + attributes + 1, (text) => text.trimEnd() === mark);
    if (end === undefined) return undefined;
    const count = attributes + 1 + end;
    if (mark.startsWith('_')) return { kind: 'quote', lines: count };
    const lang = attributes === 1 ? SOURCE.exec(line)?.[1] : /^`+([\w+#-]+)/.exec(line)?.[1];
    return { kind: 'code', lines: count, ...(lang === undefined || lang === 'source' ? {} : { lang }) };
  }
  return (lines[at + attributes]?.text ?? '').startsWith('|===') ? tableAt(lines, at, attributes) : undefined;
}

function tableAt(lines: readonly MarkupLine[], at: number, attributes: number): MarkupBlock | undefined {
  const end = linesUntil(lines, at + attributes + 1, (text) => text.startsWith('|==='));
  if (end === undefined) return undefined;
  const rows: { cells: string[]; first: number; last: number }[] = [];
  const isHeader = /header/.test(lines[at]?.text ?? '');
  let afterFirst = false;
  for (let count = attributes + 1; count < attributes + end; count++) {
    const line = lines[at + count];
    if (line === undefined) continue;
    if (line.blank) {
      afterFirst ||= rows.length === 1;
      continue;
    }
    const cells = line.text
      .trim()
      .replace(/^[\w.*+^<>]*\|/, '')
      .split(/(?<!\\)\s[\w.*+^<>]*\|/)
      .map((cell) => cell.trim());
    const last = rows.at(-1);
    // A cell of its own line goes on with the row before it, once the rows' width is known.
    if (last !== undefined && rows.length > 1 && last.cells.length < (rows[0]?.cells.length ?? 0)) {
      last.cells.push(...cells);
      last.last = count;
    } else rows.push({ cells, first: count, last: count });
  }
  return { kind: 'table', rows, headerRows: isHeader || afterFirst ? 1 : 0, lines: attributes + 1 + end };
}
