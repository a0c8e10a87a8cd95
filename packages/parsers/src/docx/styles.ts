import { isOn } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes } from '../xml/xml-node.js';

/** What a paragraph style says of a paragraph's part in the document. */
export interface StyleRole {
  /** 1..9. */
  heading?: number;
  kind?: 'quote' | 'caption' | 'code';
  numbering?: { numId: string; level: number };
}

export type Styles = ReadonlyMap<string, StyleRole>;

/** Roles of paragraph styles by id, inherited along `basedOn`. */
export function readStyles(root: XmlNode | undefined): Styles {
  const nodes = new Map(childNodes(root, 'style').map((style) => [attribute(style, 'styleId') ?? '', style]));
  const roles = new Map<string, StyleRole>();
  const roleOf = (id: string, seen: ReadonlySet<string>): StyleRole => {
    const known = roles.get(id);
    if (known !== undefined) return known;
    const style = nodes.get(id);
    if (style === undefined || seen.has(id)) return {};
    const base = attribute(child(style, 'basedOn'), 'val');
    const role = { ...(base === undefined ? {} : roleOf(base, new Set([...seen, id]))), ...ownRole(style) };
    roles.set(id, role);
    return role;
  };
  for (const id of nodes.keys()) roleOf(id, new Set());
  return roles;
}

function ownRole(style: XmlNode): StyleRole {
  const name = (attribute(child(style, 'name'), 'val') ?? '').toLowerCase();
  const properties = child(style, 'pPr');
  const role: StyleRole = {};
  const outline = headingOfOutline(properties);
  const numbered = /^heading (\d)$/.exec(name);
  if (numbered !== null) role.heading = Number(numbered[1]);
  else if (name === 'title') role.heading = 1;
  else if (outline !== undefined) role.heading = outline;
  if (/^(?:intense )?quote$|^block text$/.test(name)) role.kind = 'quote';
  else if (name === 'caption') role.kind = 'caption';
  else if (/^(?:html preformatted|source code|code|code block|verbatim|plain text code)$/.test(name)) role.kind = 'code';
  const numbering = numberingOf(properties);
  if (numbering !== undefined) role.numbering = numbering;
  return role;
}

/** The level that an outline level gives; 9 means body text. */
export function headingOfOutline(properties: XmlNode | undefined): number | undefined {
  const value = Number(attribute(child(properties, 'outlineLvl'), 'val') ?? Number.NaN);
  return value >= 0 && value < 9 ? value + 1 : undefined;
}

export function numberingOf(properties: XmlNode | undefined): { numId: string; level: number } | undefined {
  const numbering = child(properties, 'numPr');
  const numId = attribute(child(numbering, 'numId'), 'val');
  if (numId === undefined) return undefined;
  return { numId, level: Number(attribute(child(numbering, 'ilvl'), 'val') ?? 0) || 0 };
}

interface NumberLevel {
  format: string;
  /** As `%1.%2.`. */
  text: string;
  start: number;
  /** Numbers of outer levels are written in digits, whatever their own format. */
  isLegal: boolean;
}

/** Gives the marker of the next item of a numbered list; counts as Word does. */
export interface Numbering {
  marker(numId: string, level: number): string;
}

export function readNumbering(root: XmlNode | undefined): Numbering {
  const definitions = childNodes(root, 'abstractNum');
  const linked = new Map(definitions.map((node) => [attribute(child(node, 'styleLink'), 'val'), node]));
  const abstracts = new Map(
    definitions.map((node) => {
      // The levels may be those of a list style.
      const link = attribute(child(node, 'numStyleLink'), 'val');
      const levels = childNodes((link === undefined ? undefined : linked.get(link)) ?? node, 'lvl');
      return [attribute(node, 'abstractNumId') ?? '', levels.map(readLevel)];
    }),
  );
  const instances = new Map<string, { key: string; levels: Map<number, NumberLevel> }>();
  for (const node of childNodes(root, 'num')) {
    const key = attribute(child(node, 'abstractNumId'), 'val') ?? '';
    const levels = new Map(abstracts.get(key) ?? []);
    let restarts = false;
    for (const override of childNodes(node, 'lvlOverride')) {
      const level = Number(attribute(override, 'ilvl') ?? 0);
      const own = child(override, 'lvl');
      const base = own === undefined ? levels.get(level) : readLevel(own)[1];
      const start = attribute(child(override, 'startOverride'), 'val');
      if (base === undefined) continue;
      levels.set(level, start === undefined ? base : { ...base, start: Number(start) || 0 });
      restarts ||= start !== undefined;
    }
    const numId = attribute(node, 'numId') ?? '';
    // Instances of one definition go on counting, unless one of them restarts.
    instances.set(numId, { key: restarts ? `num ${numId}` : key, levels });
  }
  const counters = new Map<string, number[]>();
  return {
    marker(numId, level) {
      const instance = instances.get(numId);
      const definition = instance?.levels.get(level);
      if (instance === undefined || definition === undefined) return '-';
      const counts = counters.get(instance.key) ?? [];
      counters.set(instance.key, counts);
      counts.length = Math.min(counts.length, level + 1);
      for (let upper = 0; upper < level; upper++) counts[upper] ??= instance.levels.get(upper)?.start ?? 1;
      counts[level] = counts[level] === undefined ? definition.start : counts[level] + 1;
      if (definition.format === 'bullet' || definition.format === 'none') return '-';
      const text = definition.text.replace(/%(\d)/g, (_, digit: string) => {
        const at = Number(digit) - 1;
        const format = definition.isLegal ? 'decimal' : (instance.levels.get(at)?.format ?? 'decimal');
        return formatNumber(counts[at] ?? 1, format);
      });
      return text.trim() === '' ? '-' : text.trim();
    },
  };
}

function readLevel(node: XmlNode): [number, NumberLevel] {
  return [
    Number(attribute(node, 'ilvl') ?? 0),
    {
      format: attribute(child(node, 'numFmt'), 'val') ?? 'decimal',
      text: attribute(child(node, 'lvlText'), 'val') ?? '',
      start: Number(attribute(child(node, 'start'), 'val') ?? 1) || 0,
      isLegal: isOn(child(node, 'isLgl')),
    },
  ];
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

function formatNumber(value: number, format: string): string {
  switch (format) {
    case 'lowerLetter':
    case 'upperLetter': {
      const letter = String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.min(20, Math.floor((value - 1) / 26) + 1));
      return format === 'upperLetter' ? letter.toUpperCase() : letter;
    }
    case 'lowerRoman':
    case 'upperRoman': {
      let rest = Math.min(value, 4999);
      let roman = '';
      for (const [weight, sign] of ROMAN)
        while (rest >= weight) {
          roman += sign;
          rest -= weight;
        }
      return format === 'upperRoman' ? roman.toUpperCase() : roman;
    }
    case 'decimalZero':
      return String(value).padStart(2, '0');
    default:
      return String(value);
  }
}
