import { headingAt, listAt, paragraphAt, quoteAt } from './containers.js';
import { FENCE, type Line, LONG_LIST, lineAt, type Stretch, visibleLineAt } from './lines.js';
import { tableAt } from './table.js';

const LIST_ITEM = /^(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
/** HTML blocks that run over blank lines (CommonMark 0.31, section 4.6, kinds 1-5), with what ends each. */
const HTML_BLOCKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![a-z]/i, />/i],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
];

/**
 * Cuts Markdown into stretches. Prose, headings, fenced code, tables, lists and quotes, nearly all of a long file, are recognised here in one
 * pass; what may mean several things (HTML, definitions, marks in unusual places) is left to the full grammar, in stretches that
 * mean the same alone as in the whole.
 */
export function* scanMarkdown(text: string, from: number): Generator<Stretch> {
  let line = visibleLineAt(text, from);
  while (line !== undefined) {
    const stretch: Stretch =
      headingAt(line) ??
      codeAt(text, line) ??
      tableAt(text, line) ??
      listAt(text, line) ??
      quoteAt(text, line) ??
      paragraphAt(text, line) ??
      complexAt(text, line);
    yield stretch;
    line = visibleLineAt(text, stretch.end + 1);
  }
}

function codeAt(text: string, first: Line): Stretch | undefined {
  const fence = FENCE.exec(first.text);
  if (fence === null) return undefined;
  let end = first.end;
  for (let line = lineAt(text, end + 1); line !== undefined; line = lineAt(text, end + 1)) {
    end = line.end;
    if (closesFence(line.text, fence[2] ?? '')) break;
  }
  return { kind: 'code', start: first.start, end, info: fence[3] ?? '' };
}

function closesFence(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark?.startsWith(fence) ?? false;
}

/** Everything up to a line that stands at the margin after a blank line and can be no item of a list before it. */
function complexAt(text: string, first: Line): Stretch {
  let fence: string | undefined;
  let htmlEnd: RegExp | undefined;
  let afterBlank = false;
  let end = first.end;
  let lastVisible = first.end;
  for (let line: Line | undefined = first; line !== undefined; line = lineAt(text, end + 1)) {
    if (fence !== undefined) {
      if (closesFence(line.text, fence)) fence = undefined;
    } else if (htmlEnd !== undefined) {
      if (htmlEnd.test(line.text)) htmlEnd = undefined;
    } else {
      const fresh = !/^\s/.test(line.text) && !line.blank && !LIST_ITEM.test(line.text);
      if (afterBlank && fresh) break;
      if (line.start - first.start > LONG_LIST && LIST_ITEM.test(line.text) && LIST_ITEM.test(first.text)) break;
      fence = FENCE.exec(line.text)?.[2];
      const current = line.text;
      const html = HTML_BLOCKS.find(([opening]) => opening.test(current));
      if (html !== undefined && !html[1].test(current.replace(/^ {0,3}<!(?:--)?/, ''))) htmlEnd = html[1];
    }
    afterBlank = line.blank;
    end = line.end;
    if (!line.blank) lastVisible = line.end;
  }
  return { kind: 'complex', start: first.start, end: lastVisible };
}
