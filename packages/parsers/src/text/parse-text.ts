import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { checkTextLength } from '../limits.js';
import { paragraphRanges, sliceElement } from '../source-text.js';
import { itemsOf } from './list-items.js';

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
