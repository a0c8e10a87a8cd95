import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { checkTextLength } from '../limits.js';
import { paragraphRanges, sliceElement, trimLinesRange } from '../source-text.js';
import { languageOfName } from './languages.js';

/** Source code: blocks between blank lines. */
export async function parseCode(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const lang = languageOfName(input.name);
  const elements: Element[] = [];
  for (const block of paragraphRanges(text)) {
    const range = trimLinesRange(text, elements.at(-1)?.end ?? 0, block.end) ?? block;
    elements.push(sliceElement(text, range, { kind: 'code', ...(lang === undefined ? {} : { lang }) }));
  }
  return finishSource('code', text, elements, { metadata: {}, warnings: decoded.warnings });
}
