import { type Element, type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { paragraphRanges, sliceElement, trimRange } from '../source-text.js';
import { findUnclosed, lineOf } from './find-unclosed.js';
import { type JsonNode, LEAF, readJson } from './read-json.js';

/** A value up to this length (UTF-16 units) is one element; a longer one is parted at its members. */
const WHOLE = 800;
/** One with a list of records in it is parted at them from its first line or two on: each record is something to be found. */
const isWhole = (node: JsonNode, length: number): boolean => length <= (node.hasRecords ? LEAF : WHOLE);
/** Members of an object that say which one it is, up to this many and this long, stand in the path of what lies below. */
const MAX_LABELS = 6;
const MAX_LABEL = 80;

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
  const elements = root === undefined ? textElements(text) : [...partsOf(text, root)];
  const warnings =
    root === undefined && elements.length > 0
      ? [...decoded.warnings, 'malformed: not valid JSON, read as text']
      : decoded.warnings;
  return finishSource('json', text, elements, { metadata: root === undefined ? {} : titleOf(text, root), warnings });
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

interface Piece {
  start: number;
  end: number;
  path: string[];
}

/** Cuts a value into pieces that cover it: small members of one object together, large ones by themselves or parted again. */
function* partsOf(text: string, root: JsonNode): Generator<Element> {
  const pieces: Piece[] = [];
  cut(text, root, [], root.start, root.end, pieces);
  for (const piece of pieces) {
    const range = trimRange(text, piece.start, piece.end);
    if (range !== undefined)
      yield sliceElement(text, range, { kind: 'code', lang: 'json', ...(piece.path.length > 0 ? { path: piece.path } : {}) });
  }
}

/** @param start where the piece begins: at the value, its key, or the bracket before it */
function cut(text: string, node: JsonNode, path: string[], start: number, end: number, pieces: Piece[]): void {
  if (isWhole(node, end - start) || node.members.length === 0) {
    pieces.push({ start, end, path });
    return;
  }
  const here = [...path, ...labelsOf(text, node)];
  let from = start;
  let pending: string[] | undefined;
  for (const [index, member] of node.members.entries()) {
    const isLast = index === node.members.length - 1;
    // Up to where the next member begins: commas, and the closing bracket after the last one, go with the member before them.
    const to = isLast ? end : (node.members[index + 1]?.start ?? end);
    const memberPath = [...here, member.key];
    if (!isWhole(member.value, to - member.start)) {
      // What stands before a large member, the opening bracket too, is a piece of its own unless it is nothing but that.
      if (pending !== undefined) {
        pieces.push({ start: from, end: member.start, path: here });
        from = member.start;
      }
      pending = undefined;
      cut(text, member.value, memberPath, from, to, pieces);
      from = to;
    } else if (node.kind === 'array' && member.value.kind !== 'scalar') {
      if (pending !== undefined) {
        pieces.push({ start: from, end: member.start, path: here });
        from = member.start;
        pending = undefined;
      }
      // Objects of a list are the records of the document: an element each.
      pieces.push({ start: from, end: to, path: memberPath });
      from = to;
    } else if (to - from > WHOLE) {
      pieces.push({ start: from, end: to, path: here });
      from = to;
      pending = undefined;
    } else pending = here;
  }
  if (from < end) pieces.push({ start: from, end, path: here });
}

/** The short members of an object, as `service: auth, version: v2`. */
function labelsOf(text: string, node: JsonNode): string[] {
  if (node.kind !== 'object') return [];
  const labels = node.members
    .filter(({ value }) => value.kind === 'scalar' && value.end - value.start <= MAX_LABEL)
    .slice(0, MAX_LABELS)
    .map(({ key, value }) => `${key}: ${scalarText(text.slice(value.start, value.end))}`);
  return labels.length === 0 ? [] : [labels.join(', ')];
}

function scalarText(source: string): string {
  const value: unknown = source.startsWith('"') ? JSON.parse(source) : source;
  return String(value);
}

/** A title or name at the top of a document is its title. */
function titleOf(text: string, root: JsonNode): Record<string, unknown> {
  const title = root.members.find(
    ({ key, value }) => key === 'title' && value.kind === 'scalar' && text.charAt(value.start) === '"',
  )?.value;
  return title === undefined ? {} : { doc_title: scalarText(text.slice(title.start, title.end)) };
}
