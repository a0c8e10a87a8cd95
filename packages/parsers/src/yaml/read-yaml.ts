import { closeContainer, type DataMember, type DataNode, LEAF, NO_MEMBERS } from '../data/data-elements.js';

/** A line that is neither blank nor a comment, from its first visible character, or from behind a dash. */
interface Line {
  start: number;
  end: number;
  /** Column of its first character. */
  indent: number;
  /** Where the comments that stand directly before it begin. */
  from: number;
}

const ITEM = /^-(?:\s|$)/;
/** What may stand before a value: an anchor and a tag. */
const PROPERTIES = /^(?:[&!]\S*\s*){0,2}/;
const BLOCK_SCALAR = /^[|>][-+\d]{0,2}(?:\s|$)/;
const MAX_KEY = 500;

/**
 * The outline of a YAML file by its indentation: documents, members and items with their places. It is no parser: whatever it does not
 * know is a scalar, and each line lies in the member before it. Its time is linear in lines and depth.
 */
export function readYaml(text: string, maxDepth: number): DataNode {
  const documents = linesOf(text);
  const read = (lines: Line[]): DataNode => block(lines, 0, lines.length, text.length, 0);
  const [only] = documents;
  if (documents.length <= 1) return { ...read(only ?? []), start: 0, end: text.length };
  const root = container('array', 0, text.length);
  for (const [index, lines] of documents.entries()) {
    const node = read(lines);
    root.members.push({ key: String(index), start: lines[0]?.from ?? node.start, value: node });
  }
  return closeContainer(root);

  /** The value that the lines make up. */
  function block(lines: readonly Line[], first: number, last: number, end: number, depth: number): DataNode {
    const head = lines[first];
    const start = head?.start ?? 0;
    if (head === undefined || depth >= maxDepth || (depth > 0 && end - start <= LEAF)) return scalarOrShort(head, start, end);
    const isList = ITEM.test(text.slice(head.start, head.start + 2));
    if (!isList && keyEnd(head) === undefined) return scalar(start, end);
    const node = container(isList ? 'array' : 'object', start, end);
    for (let at = first; at < last; ) {
      const line = lines[at];
      if (line === undefined) break;
      let next = at + 1;
      while (next < last && !opens(lines[next], head.indent, isList)) next++;
      const until = next < last ? (lines[next]?.from ?? end) : end;
      node.members.push(isList ? item(lines, at, next, until, depth) : member(lines, at, next, until, depth));
      const added = node.members.at(-1);
      if (added !== undefined && isList) added.key = String(node.members.length - 1);
      at = next;
    }
    return closeContainer(node);
  }

  function opens(line: Line | undefined, indent: number, isList: boolean): boolean {
    if (line === undefined || line.indent > indent) return false;
    const isItem = ITEM.test(text.slice(line.start, line.start + 2));
    return isList ? isItem : !isItem && keyEnd(line) !== undefined;
  }

  function item(lines: readonly Line[], at: number, next: number, until: number, depth: number): DataMember {
    const line = lines[at] ?? { start: 0, end: 0, indent: 0, from: 0 };
    let start = line.start + 1;
    while (start < line.end && /\s/.test(text.charAt(start))) start++;
    const inner = { ...line, start, indent: line.indent + start - line.start, from: start };
    const rest = start < line.end ? [inner, ...lines.slice(at + 1, next)] : lines.slice(at + 1, next);
    return { key: '', start: line.from, value: block(rest, 0, rest.length, until, depth + 1) };
  }

  function member(lines: readonly Line[], at: number, next: number, until: number, depth: number): DataMember {
    const line = lines[at] ?? { start: 0, end: 0, indent: 0, from: 0 };
    const colon = keyEnd(line) ?? line.start;
    const key = yamlValue(text.slice(line.start, colon));
    const inline = text.slice(colon + 1, line.end).trimStart();
    const value = inline.replace(PROPERTIES, '');
    if (value === '' || value.startsWith('#')) {
      if (next > at + 1) return { key, start: line.from, value: block(lines, at + 1, next, until, depth + 1) };
      return { key, start: line.from, value: scalar(line.end, line.end) };
    }
    const isShort = next === at + 1 && !BLOCK_SCALAR.test(value);
    return { key, start: line.from, value: scalar(line.end - inline.length, isShort ? line.end : until) };
  }

  /** Where the colon behind a key stands. */
  function keyEnd({ start, end }: Line): number | undefined {
    const quote = text.charAt(start);
    let at = start;
    if (quote === '"' || quote === "'") {
      at = text.indexOf(quote, start + 1);
      if (at < 0 || at >= end) return undefined;
    } else if (/[[{#|>%@`]/.test(quote)) return undefined;
    const last = Math.min(end, start + MAX_KEY);
    for (at = text.indexOf(':', at); at >= 0 && at < last; at = text.indexOf(':', at + 1))
      if (at + 1 === end || /\s/.test(text.charAt(at + 1))) return at;
    return undefined;
  }

  /** A short container keeps no members, but is one: records are counted. */
  function scalarOrShort(head: Line | undefined, start: number, end: number): DataNode {
    return { ...scalar(start, end), kind: head !== undefined && keyEnd(head) !== undefined ? 'object' : 'scalar' };
  }
}

const container = (kind: 'object' | 'array', start: number, end: number): DataNode => ({
  kind,
  start,
  end,
  members: [],
  hasRecords: false,
});

const scalar = (start: number, end: number): DataNode => ({
  kind: 'scalar',
  start,
  end,
  members: NO_MEMBERS,
  hasRecords: false,
});

/** The lines of each document of the file. Lines of block scalars are kept too: they are indented under their key. */
function linesOf(text: string): Line[][] {
  const documents: Line[][] = [[]];
  let from: number | undefined;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    let start = at;
    while (start < end && /\s/.test(text.charAt(start))) start++;
    const isMark = start === at && /^(?:---|\.\.\.)(?:\s|$)/.test(text.slice(at, at + 4));
    if (isMark) {
      if ((documents.at(-1)?.length ?? 0) > 0) documents.push([]);
      from = undefined;
    } else if (start < end) {
      if (text.charAt(start) === '#' || (start === at && text.charAt(start) === '%')) from ??= at;
      else {
        documents.at(-1)?.push({ start, end: trimmedEnd(text, start, end), indent: start - at, from: from ?? start });
        from = undefined;
      }
    }
    at = end + 1;
  }
  if (documents.length > 1 && documents.at(-1)?.length === 0) documents.pop();
  return documents;
}

function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && /\s/.test(text.charAt(at - 1))) at--;
  return at;
}

/** A scalar without its quotes and its comment. */
export function yamlValue(source: string): string {
  const text = source.trim();
  const quote = text.charAt(0);
  if ((quote === '"' || quote === "'") && text.length > 1) {
    const end = text.indexOf(quote, 1);
    return end < 0 ? text.slice(1) : text.slice(1, end);
  }
  const comment = text.indexOf(' #');
  return (comment < 0 ? text : text.slice(0, comment)).trim();
}
