import type { ParsedDocument, ParseInput } from '@sluice/core';
import type { MarkupLine } from '../markup/markup-lines.js';
import { linesUntil, type MarkupBlock, parseMarkup } from '../markup/parse-markup.js';

/** Org mode of Emacs. */
export function parseOrg(input: ParseInput): Promise<ParsedDocument> {
  return parseMarkup(
    input,
    'org',
    () => blockAt,
    (text) => /^#\+title:[ \t]*(\S.*)$/im.exec(text.slice(0, 8_192))?.[1]?.trim(),
  );
}

function blockAt(lines: readonly MarkupLine[], at: number): MarkupBlock | undefined {
  const line = lines[at]?.text ?? '';
  const heading = /^(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z\d]\]\s+)?(.*?)(?:\s+:[\w@#%:]+:)?\s*$/.exec(
    line,
  );
  if (heading?.[1] !== undefined) return { kind: 'heading', level: heading[1].length, title: heading[2] ?? '', lines: 1 };
  const begin = /^\s*#\+begin_(\w+)(?:\s+(\S+))?/i.exec(line);
  const kind = begin?.[1]?.toLowerCase();
  if (begin !== null && kind !== undefined) {
    const end = linesUntil(lines, at, (text) => text.trim().toLowerCase().startsWith(`#+end_${kind}`));
    if (end === undefined) return undefined;
    if (kind === 'quote' || kind === 'verse') return { kind: 'quote', lines: end };
    if (kind === 'src' && begin[2] !== undefined) return { kind: 'code', lang: begin[2], lines: end };
    if (kind === 'src' || kind === 'example' || kind === 'export') return { kind: 'code', lines: end };
  }
  return /^\s*\|/.test(line) ? tableAt(lines, at) : undefined;
}

function tableAt(lines: readonly MarkupLine[], at: number): MarkupBlock {
  const rows: { cells: string[]; first: number; last: number }[] = [];
  let headerRows = 0;
  let count = 0;
  for (; at + count < lines.length; count++) {
    const text = lines[at + count]?.text.trim() ?? '';
    if (!text.startsWith('|')) break;
    if (/^\|[-+|]+$/.test(text)) {
      if (headerRows === 0) headerRows = rows.length;
    } else
      rows.push({
        cells: text
          .replace(/^\||\|$/g, '')
          .split('|')
          .map((cell) => cell.trim()),
        first: count,
        last: count,
      });
  }
  return { kind: 'table', rows, headerRows: headerRows === rows.length ? 0 : headerRows, lines: count };
}
