import { isOn } from '../office/package.js';
import { lowered, raised } from '../scripts.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, descend, relationshipId, textContent } from '../xml/xml-node.js';

/** The text of a paragraph, and what hangs on it. */
export interface ParagraphText {
  text: string;
  /** Text boxes anchored in it, each once. */
  boxes: XmlNode[];
  /** Ids of foot- and endnotes in the order of their marks. */
  notes: { kind: 'footnote' | 'endnote'; id: string }[];
  /** Relationships of the charts that stand in it. */
  charts: string[];
  /** It holds nothing but a formula. */
  isFormula: boolean;
}

/** Content that changes accepted are rid of, or that is no text. */
const UNREAD = new Set([
  'del',
  'moveFrom',
  'delText',
  'instrText',
  'delInstrText',
  'pPr',
  'rPr',
  'sdtPr',
  'annotationRef',
  'rt',
  'commentReference',
]);

/** Symbols of the fonts Symbol and Wingdings that stand for ordinary characters. */
const SYMBOLS: Readonly<Record<string, string>> = {
  f0b7: '•',
  f0a7: '▪',
  f0d8: '➢',
  f0fc: '✓',
  f0e0: '→',
  f0ae: '→',
  f061: 'α',
  f062: 'β',
  f06d: 'μ',
  f070: 'π',
  f0b0: '°',
  f0b1: '±',
  f0a3: '≤',
  f0b3: '≥',
  f0b4: '×',
  f0d7: '·',
  f0e8: '➔',
  f020: ' ',
  f02d: '−',
  f0fe: '☑',
  f0a8: '☐',
  f06f: '☐',
  f0d6: '√',
  f0e5: '∑',
  f0a5: '∞',
};

/** Reads a paragraph with all tracked changes accepted. Field codes, hidden text and comments are not text. */
export function readParagraph(paragraph: XmlNode): ParagraphText {
  const result: ParagraphText = { text: '', boxes: [], notes: [], charts: [], isFormula: false };
  let words = '';
  let formula = '';
  // Depth of nested complex fields of which the code, not the result, is being read.
  const fields: boolean[] = [];
  const inCode = (): boolean => fields.includes(true);

  const walk = (node: XmlNode): void => {
    if (UNREAD.has(node.name)) return;
    switch (node.name) {
      case 't':
        if (!inCode()) words += textContent(node);
        return;
      case 'r':
        if (isHidden(node)) return;
        walkRun(node);
        return;
      case 'chart': {
        const id = relationshipId(node);
        if (id !== undefined) result.charts.push(id);
        return;
      }
      case 'tab':
      case 'ptab':
        words += '\t';
        return;
      case 'br':
      case 'cr':
        words += '\n';
        return;
      case 'noBreakHyphen':
        words += '-';
        return;
      case 'sym':
        words += SYMBOLS[(attribute(node, 'char') ?? '').toLowerCase()] ?? '';
        return;
      case 'fldChar':
        changeField(fields, attribute(node, 'fldCharType'));
        return;
      case 'footnoteReference':
      case 'endnoteReference': {
        const id = attribute(node, 'id');
        if (id === undefined) return;
        result.notes.push({ kind: node.name === 'footnoteReference' ? 'footnote' : 'endnote', id });
        words += NOTE_MARK;
        return;
      }
      case 'AlternateContent': {
        // The same content twice, for new programs and for old ones.
        const chosen = child(node, 'Choice') ?? child(node, 'Fallback');
        if (chosen !== undefined) walk(chosen);
        return;
      }
      case 'txbxContent':
        result.boxes.push(node);
        return;
      case 'oMath': {
        const text = mathText(node);
        formula += text;
        words += text;
        return;
      }
      case 'ruby': {
        const base = child(node, 'rubyBase');
        if (base !== undefined) walk(base);
        return;
      }
    }
    for (const inner of childNodes(node)) walk(inner);
  };
  function walkRun(run: XmlNode): void {
    const before = words;
    for (const inner of childNodes(run)) walk(inner);
    const script = attribute(descend(run, 'rPr', 'vertAlign'), 'val');
    const own = words.slice(before.length);
    if (script === 'superscript' && !own.includes(NOTE_MARK)) words = before + raised(before, own);
    else if (script === 'subscript') words = before + lowered(before, own);
  }

  for (const node of childNodes(paragraph)) walk(node);
  result.text = words;
  result.isFormula = formula !== '' && formula.trim() === words.trim();
  return result;
}

/** Stands in the text where a note is marked until its number is known; never part of a document (private use). */
export const NOTE_MARK = '\ue0f1';

function isHidden(run: XmlNode): boolean {
  return isOn(descend(run, 'rPr', 'vanish'));
}

function changeField(fields: boolean[], type: string | undefined): void {
  if (type === 'begin') fields.push(true);
  else if (type === 'separate' && fields.length > 0) fields[fields.length - 1] = false;
  else if (type === 'end') fields.pop();
}

/** Linear form of a formula: fractions with a slash, scripts with ^ and _. */
function mathText(node: XmlNode): string {
  const part = (name: string): string => childNodes(child(node, name)).map(mathText).join('');
  switch (node.name) {
    case 't':
      return textContent(node);
    case 'f':
      return `(${part('num')})/(${part('den')})`;
    case 'sSup':
      return `${part('e')}^${part('sup')}`;
    case 'sSub':
      return `${part('e')}_${part('sub')}`;
    case 'rad':
      return `√(${part('e')})`;
    default:
      return childNodes(node).map(mathText).join('');
  }
}

/** True when the mark that ends a paragraph was deleted: its text goes on in the next one. */
export function endIsDeleted(paragraph: XmlNode): boolean {
  const mark = descend(paragraph, 'pPr', 'rPr');
  return child(mark, 'del') !== undefined || child(mark, 'moveFrom') !== undefined;
}
