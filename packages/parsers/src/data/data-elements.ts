import type { Element } from '@sluice/core';
import { sliceElement, trimRange } from '../source-text.js';

/** A value of a data file with its place; only containers have members. */
export interface DataNode {
  kind: 'object' | 'array' | 'scalar';
  start: number;
  end: number;
  /** In order; each begins at its key. */
  members: DataMember[];
  /** Somewhere in it lies a list of records: two objects or more of some length. */
  hasRecords: boolean;
  /** What it says of itself beside its members, as the attributes of XML do. */
  label?: string;
}

export interface DataMember {
  key: string;
  start: number;
  value: DataNode;
}

/** How a language of data is read. */
export interface DataLanguage {
  lang: string;
  /** A scalar as people read it, without quotes and escapes. */
  valueOf(source: string): string;
}

/** A container up to this length (UTF-16 units) is kept without its members. */
export const LEAF = 200;
/** A record has about this length (UTF-16 units) at least. */
const RECORD = 30;
/** A value up to this length (UTF-16 units) is one element; a longer one is parted at its members. */
const WHOLE = 800;
/** One with a list of records in it is parted at them from its first line or two on: each record is something to be found. */
const isWhole = (node: DataNode, length: number): boolean => length <= (node.hasRecords ? LEAF : WHOLE);
/** Members of an object that say which one it is, up to this many and this long, stand in the path of what lies below. */
const MAX_LABELS = 6;
const MAX_LABEL = 80;

export const NO_MEMBERS: DataNode['members'] = [];

/** A container with its members: a short one lets go of them, since nothing is ever cut within it. Large files are millions of these. */
export function closeContainer(node: DataNode): DataNode {
  if (node.end - node.start <= LEAF) node.members = NO_MEMBERS;
  else node.hasRecords = node.members.some(({ value }) => value.hasRecords) || isRecordList(node);
  return node;
}

function isRecordList(node: DataNode): boolean {
  return (
    node.kind === 'array' &&
    node.members.filter(({ value }) => value.kind === 'object' && value.end - value.start >= RECORD).length > 1
  );
}

interface Piece {
  start: number;
  end: number;
  path: string[];
}

/**
 * Cuts a value into elements that cover it: small members of one object together, large ones by themselves or parted again. The path of
 * each names the keys and, by their short members, the objects around it, as `service: auth, version: v2`.
 */
export function dataElements(text: string, root: DataNode, language: DataLanguage): Element[] {
  const pieces: Piece[] = [];
  cut({ text, language, pieces }, root, [], root);
  return pieces.flatMap(({ start, end, path }) => {
    const range = trimRange(text, start, end);
    const facts = { kind: 'code' as const, lang: language.lang, ...(path.length > 0 ? { path } : {}) };
    return range === undefined ? [] : [sliceElement(text, range, facts)];
  });
}

/** @param place from the value, its key, or the bracket before it, to where the next begins */
function cut(
  into: { text: string; language: DataLanguage; pieces: Piece[] },
  node: DataNode,
  path: string[],
  { start, end }: { start: number; end: number },
): void {
  const { pieces } = into;
  if (isWhole(node, end - start) || node.members.length === 0) {
    pieces.push({ start, end, path });
    return;
  }
  const here = [...path, ...labelsOf(into, node)];
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
      cut(into, member.value, memberPath, { start: from, end: to });
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

/** What tells an object from others like it, as `service: auth, version: v2`. */
function labelsOf({ text, language }: { text: string; language: DataLanguage }, node: DataNode): string[] {
  const labels = node.label === undefined ? [] : [node.label];
  if (node.kind === 'object')
    for (const { key, value } of node.members) {
      if (labels.length >= MAX_LABELS) break;
      if (value.kind === 'scalar' && value.end > value.start && value.end - value.start <= MAX_LABEL)
        labels.push(`${key}: ${language.valueOf(text.slice(value.start, value.end))}`);
    }
  return labels.length === 0 ? [] : [labels.join(', ')];
}

/** A title at the top of a document is its title. */
export function dataTitle(text: string, root: DataNode, language: DataLanguage): { doc_title?: string } {
  const found = root.members.find(({ key, value }) => key === 'title' && value.kind === 'scalar')?.value;
  const title = found === undefined ? '' : language.valueOf(text.slice(found.start, found.end)).trim();
  return title === '' || title.length > MAX_LABEL * 3 ? {} : { doc_title: title };
}
