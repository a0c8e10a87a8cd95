import { type Element, type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { dataElements, dataTitle } from '../data/data-elements.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { paragraphRanges, sliceElement, trimRange } from '../source-text.js';
import { findUnclosed, lineOf } from './find-unclosed.js';
import { readJson } from './read-json.js';

const JSON_DATA = { lang: 'json', valueOf: scalarText };

/**
 * JSON: the text is the file's, parted at objects, arrays and members. Each element's path names where it stands, each enclosing
 * object by its short members too, as `service: auth, version: v2`. What people write by hand, with comments, other quotes and commas too
 * many, is read as plain text with a warning; a file that is cut off is corrupt.
 */
export async function parseJson(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  await breathe(input);
  const root = readJson(text, 0, input.limits.depth);
  const open = root === undefined ? findUnclosed(text) : undefined;
  if (open !== undefined)
    throw new SluiceError('corrupt', `${input.name} is cut off: what opens in line ${lineOf(text, open)} is never closed`);
  const elements = root === undefined ? textElements(text) : dataElements(text, root, JSON_DATA);
  const warnings =
    root === undefined && elements.length > 0
      ? [...decoded.warnings, 'malformed: not valid JSON, read as text']
      : decoded.warnings;
  return finishSource('json', text, elements, { metadata: root === undefined ? {} : dataTitle(text, root, JSON_DATA), warnings });
}

/** JSON Lines: a record a line, each an element; a line that is no JSON stays as it is, with a warning. */
export async function parseJsonLines(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const elements: Element[] = [];
  let bad = 0;
  let number = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const range = trimRange(text, start, end);
    if (range !== undefined) {
      const node = readJson(text.slice(range.start, range.end), 0, input.limits.depth);
      if (node === undefined) bad++;
      elements.push(sliceElement(text, range, { kind: 'code', lang: 'json', path: [String(number)] }));
      if (++number % 5_000 === 0) {
        await breathe(input);
        input.onProgress?.(end / text.length);
      }
    }
    start = end + 1;
  }
  if (bad > 0 && bad === number) throw new SluiceError('corrupt', `${input.name} holds no line of JSON`);
  const warnings = bad > 0 ? [...decoded.warnings, `malformed: ${bad} of ${number} lines are no JSON`] : decoded.warnings;
  return finishSource('jsonl', text, elements, { metadata: {}, warnings });
}

function textElements(text: string): Element[] {
  return [...paragraphRanges(text)].map((range) => sliceElement(text, range, { kind: 'code', lang: 'json' }));
}

function scalarText(source: string): string {
  const value: unknown = source.startsWith('"') ? JSON.parse(source) : source;
  return String(value);
}
