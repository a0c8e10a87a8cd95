import type { ParsedDocument, ParseInput } from '@sluice/core';
import type { MarkupLine } from '../markup/markup-lines.js';
import { type MarkupBlock, parseMarkup } from '../markup/parse-markup.js';

/** Sectioning commands, from the outermost. Levels count from the outermost that the file has. */
const SECTIONS = ['part', 'chapter', 'section', 'subsection', 'subsubsection', 'paragraph'];
const SECTION = /^\s*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?\s*(?:\[[^\]]{0,300}\])?\s*\{/;
const BEGIN = /^\s*\\begin\s*\{([a-zA-Z]{1,30}\*?)\}/;
const CODE = /^(?:verbatim|Verbatim|BVerbatim|lstlisting|minted|alltt|comment|tikzpicture|filecontents)\*?$/;
const FORMULA = /^(?:equation|align|alignat|flalign|gather|multline|eqnarray|displaymath|math|dmath)\*?$/;
const QUOTE = /^(?:quote|quotation|verse)$/;
const TABLE = /^(?:tabular|tabularx|tabulary|longtable|array|xltabular|tblr)\*?$/;
/** What may end a block: of an environment, a formula in brackets, one between dollars. */
const END = /\\end\s*\{([a-zA-Z]{1,30}\*?)\}|\\\]|\$\$/g;
const MAX_TITLE = 300;

/** LaTeX: the text is the file's. Commands stay where they are; no file is included and no macro is run. */
export function parseLatex(input: ParseInput): Promise<ParsedDocument> {
  return parseMarkup(
    input,
    'latex',
    () => {
      let outermost = SECTIONS.length;
      let ends: Map<string, number[]> | undefined;
      return (lines, at) => {
        ends ??= endsOf(lines);
        const block = blockAt(lines, at, ends);
        if (block?.kind !== 'heading') return block;
        outermost = Math.min(outermost, block.level);
        return { ...block, level: block.level - outermost + 1 };
      };
    },
    (text) => {
      const at = text.slice(0, 65_536).search(/\\title\s*(?:\[[^\]]{0,300}\])?\s*\{/);
      const title = at < 0 ? undefined : bracedText(text.slice(at, at + 2_000));
      return title === undefined || title.length > MAX_TITLE ? undefined : title;
    },
  );
}

function blockAt(
  lines: readonly MarkupLine[],
  at: number,
  ends: ReadonlyMap<string, readonly number[]>,
): MarkupBlock | undefined {
  const line = lines[at]?.text ?? '';
  const section = SECTION.exec(line)?.[1];
  if (section !== undefined) return headingAt(lines, at, SECTIONS.indexOf(section));
  if (/^\s*\\\[/.test(line)) return formula(linesTo(ends, '\\]', at));
  if (/^\s*\$\$/.test(line)) return formula(line.lastIndexOf('$$') > line.indexOf('$$') ? 1 : linesTo(ends, '$$', at, at + 1));
  const name = BEGIN.exec(line)?.[1];
  if (name === undefined || ![CODE, FORMULA, QUOTE, TABLE].some((kind) => kind.test(name))) return undefined;
  const count = linesTo(ends, name, at);
  if (count === undefined) return undefined;
  if (CODE.test(name)) return { kind: 'code', lines: count };
  if (FORMULA.test(name)) return { kind: 'formula', lines: count };
  return QUOTE.test(name) ? { kind: 'quote', lines: count } : tableAt(lines, at, count);
}

const formula = (count: number | undefined): MarkupBlock | undefined =>
  count === undefined ? undefined : { kind: 'formula', lines: count };

/** The lines that may end a block, by what they end: found once, so that what is never closed costs nothing. */
function endsOf(lines: readonly MarkupLine[]): Map<string, number[]> {
  const ends = new Map<string, number[]>();
  for (const [index, { text }] of lines.entries())
    for (const { 0: mark, 1: name } of text.matchAll(END)) {
      const list = ends.get(name ?? mark) ?? [];
      list.push(index);
      ends.set(name ?? mark, list);
    }
  return ends;
}

/** How many lines there are from `at` to the first from `from` on that ends this. */
function linesTo(ends: ReadonlyMap<string, readonly number[]>, what: string, at: number, from = at): number | undefined {
  const list = ends.get(what) ?? [];
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  const end = list[low];
  return end === undefined ? undefined : end - at + 1;
}

/** A title may go on over lines until its brace closes. */
function headingAt(lines: readonly MarkupLine[], at: number, level: number): MarkupBlock | undefined {
  let text = '';
  for (let count = 0; count < 5; count++) {
    const line = lines[at + count];
    if (line === undefined || line.blank) return undefined;
    text += `${line.text}\n`;
    const title = bracedText(text);
    if (title !== undefined) return title === '' ? undefined : { kind: 'heading', level, title, lines: count + 1 };
  }
  return undefined;
}

/** Rows end with `\\`, cells with `&`; rules between rows are none. */
function tableAt(lines: readonly MarkupLine[], at: number, count: number): MarkupBlock {
  const rows: { cells: string[]; first: number; last: number }[] = [];
  let row = '';
  let first = 1;
  let headerRows = 0;
  let rules = 0;
  for (let index = 1; index < count - 1; index++) {
    const text = withoutComment(lines[at + index]?.text ?? '').trim();
    const isRule =
      /^(?:\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|cmidrule|cline)\b(?:\([^)]{0,20}\))?(?:\{[^}]{0,20}\})?\s*)+$/.test(
        text,
      );
    if (isRule && row === '') {
      rules++;
      if (rows.length > 0 && headerRows === 0) headerRows = rows.length;
      first = index + 1;
      continue;
    }
    if (row === '') first = index;
    row += `${text} `;
    if (!/\\\\(?:\[[^\]]{0,20}\])?\s*(?:\\(?:hline|midrule|bottomrule|toprule)\s*)*$/.test(text) && index < count - 2) continue;
    if (row.trim() !== '') {
      rows.push({ cells: cellsOf(row), first, last: index });
      if (/\\(?:hline|midrule)\s*$/.test(text) && headerRows === 0) headerRows = rows.length;
    }
    row = '';
  }
  return { kind: 'table', rows, headerRows: rules === 0 || headerRows >= rows.length ? 0 : headerRows, lines: count };
}

function cellsOf(row: string): string[] {
  return row
    .replace(/\\(?:hline|toprule|midrule|bottomrule)\b/g, '')
    .replace(/\\\\(?:\[[^\]]{0,20}\])?/g, '')
    .split(/(?<!\\)&/)
    .map((cell) => plainText(cell));
}

function withoutComment(text: string): string {
  return text.replace(/(?<!\\)%.*$/, '');
}

/** The text in the first braces, read as people do; undefined when they are never closed. */
function bracedText(text: string): string | undefined {
  const start = text.indexOf('{');
  let depth = 0;
  for (let at = start; at >= 0 && at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '\\') at++;
    else if (sign === '{') depth++;
    else if (sign === '}' && --depth === 0) return plainText(text.slice(start + 1, at));
  }
  return undefined;
}

/** Text without its commands, for headings and cells. */
function plainText(source: string): string {
  return source
    .replace(/\\(?:label|index|footnote|thanks|cite|vspace|hspace)\*?\s*\{[^{}]{0,500}\}/g, '')
    .replace(/\\(?:multicolumn|multirow)\s*\{[^{}]{0,30}\}\s*\{[^{}]{0,60}\}/g, '')
    .replace(/\\\\/g, ' ')
    .replace(/\\([&%$#_{}])/g, '$1')
    .replace(/\\[a-zA-Z]{1,30}\*?\s*/g, '')
    .replace(/(?<!\\)[{}]/g, '')
    .replace(/~|\s+/g, ' ')
    .trim();
}
