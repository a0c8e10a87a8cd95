import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { checkTextLength } from '../limits.js';
import { sliceElement, trimLinesRange } from '../source-text.js';
import { statementEnds } from './statements.js';

/** SQL: the text is the file's, an element a statement with the comments before it. */
export async function parseSql(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const elements = [];
  let start = 0;
  for (const end of [...statementEnds(text), text.length]) {
    const range = trimLinesRange(text, start, end);
    if (range !== undefined) elements.push(sliceElement(text, range, { kind: 'code', lang: 'sql' }));
    start = end;
  }
  return finishSource('sql', text, elements, { metadata: {}, warnings: decoded.warnings, lang: 'none' });
}
