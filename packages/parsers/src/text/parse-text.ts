import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { checkTextLength } from '../limits.js';
import { paragraphRanges, type Range, sliceElement } from '../source-text.js';

/** Plain text: an element a paragraph, that is, whatever stands between blank lines. */
export async function parseText(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const elements: Element[] = [];
  for (const range of paragraphRanges(text)) {
    const items = itemsOf(text, range);
    elements.push(sliceElement(text, range, items === undefined ? { kind: 'paragraph' } : { kind: 'list', parts: items }));
  }
  return finishSource('text', text, elements, { metadata: {}, warnings: decoded.warnings });
}

const ITEM = /^[ \t]*(?:[-*•+–]|\(?\d{1,3}[.)])[ \t]+\S/;
/** Lists are short; the lines of longer blocks are not looked at. */
const MAX_LIST = 64 * 1024;

/** The items of a block that is a list: its first line and at least one more begin with the same kind of marker. */
function itemsOf(text: string, range: Range): Range[] | undefined {
  if (range.end - range.start > MAX_LIST || !ITEM.test(text.slice(range.start, range.start + 200))) return undefined;
  const items: Range[] = [];
  for (let at = range.start; at < range.end; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? range.end : Math.min(newline, range.end);
    const line = text.slice(at, end);
    const last = items.at(-1);
    if (ITEM.test(line)) items.push({ start: at + (line.length - line.trimStart().length), end });
    else if (last !== undefined) last.end = end;
    at = end + 1;
  }
  return items.length > 1 ? items : undefined;
}
