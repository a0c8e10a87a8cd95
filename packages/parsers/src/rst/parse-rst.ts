import type { ParsedDocument, ParseInput } from '@sluice/core';
import type { MarkupLine } from '../markup/markup-lines.js';
import { indentedLines, type MarkupBlock, type MarkupReader, parseMarkup } from '../markup/parse-markup.js';

/** reStructuredText. */
export function parseRst(input: ParseInput): Promise<ParsedDocument> {
  return parseMarkup(input, 'rst', createRstReader);
}

/** A line of one mark, as stands above or below a title. */
const RULE = /^([!-/:-@[-`{-~])\1{1,}\s*$/;
const CODE = /^\s*\.\.\s+(?:code-block|code|sourcecode|highlight|parsed-literal|literalinclude)::\s*(\S*)/;
const FORMULA = /^\s*\.\.\s+math::/;
const GRID = /^\s*\+(?:[-=]+\+)+\s*$/;
const SIMPLE = /^\s*=+(?: +=+)+\s*$/;

function createRstReader(): MarkupReader {
  /** Marks in the order in which the document uses them: the first one is level 1. */
  const marks: string[] = [];
  const levelOf = (mark: string): number => {
    if (!marks.includes(mark)) marks.push(mark);
    return marks.indexOf(mark) + 1;
  };
  return (lines, at) => headingAt(lines, at, levelOf) ?? codeAt(lines, at) ?? gridAt(lines, at) ?? simpleAt(lines, at);
}

function headingAt(lines: readonly MarkupLine[], at: number, levelOf: (mark: string) => number): MarkupBlock | undefined {
  const [first, second, third] = [lines[at]?.text ?? '', lines[at + 1]?.text ?? '', lines[at + 2]?.text ?? ''];
  const above = RULE.exec(first)?.[1];
  if (
    above !== undefined &&
    second.trim() !== '' &&
    RULE.exec(third)?.[1] === above &&
    third.trim().length >= second.trim().length
  )
    return { kind: 'heading', level: levelOf(`${above}${above}`), title: second.trim(), lines: 3 };
  const below = RULE.exec(second)?.[1];
  const title = first.trim();
  const afterText = at > 0 && lines[at - 1]?.blank === false && !RULE.test(lines[at - 1]?.text ?? '');
  if (below === undefined || title === '' || above !== undefined || afterText || /^\s/.test(first)) return undefined;
  // Three marks may stand below a short title only.
  if (second.trim().length < Math.min(title.length, 4)) return undefined;
  return second.trim().length * 2 < title.length ? undefined : { kind: 'heading', level: levelOf(below), title, lines: 2 };
}

function codeAt(lines: readonly MarkupLine[], at: number): MarkupBlock | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const directive = CODE.exec(line.text);
  if (directive !== null || FORMULA.test(line.text)) {
    const inside = 1 + indentedLines(lines, at + 1, line.indent);
    return directive === null
      ? { kind: 'formula', lines: inside }
      : { kind: 'code', lines: inside, ...(directive[1] ? { lang: directive[1] } : {}) };
  }
  // A literal block behind a paragraph that ends with two colons.
  const before =
    at > 1 && lines[at - 1]?.blank === true
      ? lines.slice(Math.max(0, at - 3), at - 1).findLast(({ blank }) => !blank)
      : undefined;
  if (before === undefined || !before.text.trimEnd().endsWith('::') || line.indent <= before.indent) return undefined;
  return { kind: 'code', lines: Math.max(1, indentedLines(lines, at, before.indent)) };
}

function gridAt(lines: readonly MarkupLine[], at: number): MarkupBlock | undefined {
  if (!GRID.test(lines[at]?.text ?? '')) return undefined;
  const rows: { cells: string[]; first: number; last: number }[] = [];
  let headerRows = 0;
  let current: { cells: string[]; first: number; last: number } | undefined;
  let count = 1;
  for (; at + count < lines.length; count++) {
    const text = lines[at + count]?.text.trim() ?? '';
    if (!/^[|+]/.test(text)) break;
    if (/^\+[-=+]+\+$/.test(text)) {
      if (current !== undefined) rows.push(current);
      current = undefined;
      if (text.includes('=')) headerRows = rows.length;
      continue;
    }
    const cells = text
      .replace(/^[|+]|[|+]$/g, '')
      .split('|')
      .map((cell) => cell.trim());
    current ??= { cells: [], first: count, last: count };
    current.last = count;
    for (const [column, cell] of cells.entries())
      current.cells[column] = [current.cells[column] ?? '', cell].filter((word) => word !== '').join(' ');
  }
  if (current !== undefined) rows.push(current);
  return { kind: 'table', rows, headerRows: Math.min(headerRows, rows.length), lines: count };
}

function simpleAt(lines: readonly MarkupLine[], at: number): MarkupBlock | undefined {
  const rule = lines[at]?.text ?? '';
  if (!SIMPLE.test(rule)) return undefined;
  const columns = [...rule.matchAll(/=+/g)].map((match) => match.index);
  const rows: { cells: string[]; first: number; last: number }[] = [];
  const rules: number[] = [];
  let count = 1;
  for (; at + count < lines.length && rules.length < 2; count++) {
    const line = lines[at + count];
    if (line === undefined) break;
    if (SIMPLE.test(line.text)) {
      rules.push(rows.length);
      // The first rule below closes the header, or the table where a blank line follows.
      if (lines[at + count + 1]?.blank !== false) rules.push(rows.length);
    } else if (!line.blank && !/^[\s-]+$/.test(line.text))
      rows.push({
        cells: columns.map((start, index) => line.text.slice(start, columns[index + 1]).trim()),
        first: count,
        last: count,
      });
  }
  return rules.length < 2
    ? undefined
    : { kind: 'table', rows, headerRows: rules[0] === rows.length ? 0 : (rules[0] ?? 0), lines: count };
}
