import { lowered, raised } from '../scripts.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, textContent } from '../xml/xml-node.js';

/** The text of a paragraph, and what hangs on it. */
export interface OdfParagraph {
  text: string;
  notes: XmlNode[];
  /** Text boxes anchored in it. */
  boxes: XmlNode[];
}

const UNREAD = new Set(['annotation', 'annotation-end', 'tracked-changes', 'ruby-text', 'bookmark', 'alphabetical-index-mark']);
/** Spaces that one element may stand for. */
const MAX_SPACES = 100;
/** Stands where a note is marked until its number is known; never part of a document (private use). */
export const NOTE_MARK = '\ue0f1';

/** Reads a paragraph (ODF 1.3 part 3, 6.1): white space is collapsed, raised and lowered text by its style. */
export function readOdfParagraph(paragraph: XmlNode, positions: ReadonlyMap<string, 'super' | 'sub'>): OdfParagraph {
  const result: OdfParagraph = { text: '', notes: [], boxes: [] };
  const walk = (node: XmlNode | string): void => {
    if (typeof node === 'string') {
      result.text += node.replace(/[\t\n\r ]+/g, ' ');
      return;
    }
    if (UNREAD.has(node.name)) return;
    switch (node.name) {
      case 's':
        result.text += ' '.repeat(Math.min(MAX_SPACES, Number(attribute(node, 'c') ?? 1) || 1));
        return;
      case 'tab':
        result.text += '\t';
        return;
      case 'line-break':
        result.text += '\n';
        return;
      case 'note':
        result.notes.push(node);
        result.text += NOTE_MARK;
        return;
      case 'text-box':
        result.boxes.push(node);
        return;
      case 'object':
      case 'image':
        return;
      default: {
        const before = result.text;
        for (const inner of node.children) walk(inner);
        const position = node.name === 'span' ? positions.get(attribute(node, 'style-name') ?? '') : undefined;
        const own = result.text.slice(before.length);
        if (position === 'super' && !own.includes(NOTE_MARK)) result.text = before + raised(before, own);
        else if (position === 'sub') result.text = before + lowered(before, own);
      }
    }
  };
  for (const node of paragraph.children) walk(node);
  return result;
}

export interface OdfStyles {
  /** Names of what styles are made from, outermost last. */
  namesOf(style: string): string[];
  positions: Map<string, 'super' | 'sub'>;
  /** Markers of list styles by level. */
  lists: Map<string, ((number: number) => string)[]>;
  /** Table styles of sheets that are hidden. */
  hidden: Set<string>;
  add(node: XmlNode): void;
}

export function createOdfStyles(): OdfStyles {
  const parents = new Map<string, string>();
  const styles: OdfStyles = {
    positions: new Map(),
    lists: new Map(),
    hidden: new Set(),
    namesOf(style) {
      const names: string[] = [];
      for (let name: string | undefined = style; name !== undefined && names.length < 10; name = parents.get(name))
        names.push(name);
      return names;
    },
    add(node) {
      const name = attribute(node, 'name') ?? '';
      if (node.name === 'list-style') {
        styles.lists.set(name, childNodes(node).map(markerOf));
        return;
      }
      const parent = attribute(node, 'parent-style-name');
      if (parent !== undefined) parents.set(name, parent);
      const position = attribute(child(node, 'text-properties'), 'text-position') ?? '';
      if (/^super|^[1-9]/.test(position)) styles.positions.set(name, 'super');
      else if (/^sub|^-/.test(position)) styles.positions.set(name, 'sub');
      if (attribute(child(node, 'table-properties'), 'display') === 'false') styles.hidden.add(name);
    },
  };
  return styles;
}

function markerOf(level: XmlNode): (number: number) => string {
  const format = attribute(level, 'num-format') ?? '';
  if (level.name !== 'list-level-style-number' || format === '') return () => '-';
  const [prefix, suffix] = [attribute(level, 'num-prefix') ?? '', attribute(level, 'num-suffix') ?? '.'];
  const letter = (number: number): string => String.fromCharCode(97 + ((number - 1) % 26));
  return (number) => {
    const shown = format === 'a' ? letter(number) : format === 'A' ? letter(number).toUpperCase() : String(number);
    return `${prefix}${shown}${suffix}`.trim();
  };
}

/** All text of a cell, a note or a text box on one line. */
export function odfBlockText(node: XmlNode, positions: ReadonlyMap<string, 'super' | 'sub'>): string {
  if (node.name === 'p' || node.name === 'h') {
    const { text, boxes } = readOdfParagraph(node, positions);
    return [text, ...boxes.map((box) => odfBlockText(box, positions))].join(' ').replaceAll(NOTE_MARK, '').trim();
  }
  if (UNREAD.has(node.name)) return '';
  return childNodes(node)
    .map((inner) => odfBlockText(inner, positions))
    .filter((text) => text !== '')
    .join(' ');
}

export const noteText = (note: XmlNode, positions: ReadonlyMap<string, 'super' | 'sub'>): string =>
  odfBlockText(child(note, 'note-body') ?? note, positions);

export const plainText = (node: XmlNode | undefined): string => textContent(node).replace(/\s+/g, ' ').trim();
