import type { PdfOutlineNode } from './pdf-types.js';
import type { Row, Segment } from './rows.js';

/** What is ordinary in a document, so that headings stand out. */
export interface DocumentStatistics {
  bodySize: number;
  bodyFont: string;
  /** Sizes of headings, largest first. */
  headingSizes: number[];
  /** Depth of outline entries, from 1, by normalised title. */
  outline: ReadonlyMap<string, number>;
  /** Its headings are tagged: what has no tag is none. */
  tagged: boolean;
}

/** From this many times the body's size on, text is a heading. */
const HEADING_RATIO = 1.15;
const MAX_SIZES = 5;
/** Fewer lines with the tags of headings may be a title alone. */
const MIN_TAGS = 3;
/** Entries of an outline that are read. */
const MAX_OUTLINE = 10_000;

const roundSize = (size: number): number => Math.round(size * 2) / 2;

export function measure(rows: Iterable<Row>, outline: readonly PdfOutlineNode[] | null): DocumentStatistics {
  const sizes = new Map<number, number>();
  const fonts = new Map<string, number>();
  let tags = 0;
  for (const row of rows)
    for (const segment of row.segments) {
      if (segment.tag !== undefined) tags++;
      const size = roundSize(segment.size);
      sizes.set(size, (sizes.get(size) ?? 0) + segment.text.length);
      fonts.set(segment.font, (fonts.get(segment.font) ?? 0) + segment.text.length);
    }
  const bodySize = mostOf(sizes) ?? 10;
  return {
    bodySize,
    bodyFont: mostOf(fonts) ?? '',
    headingSizes: [...sizes.keys()]
      .filter((size) => size >= bodySize * HEADING_RATIO)
      .sort((a, b) => b - a)
      .slice(0, MAX_SIZES),
    outline: readOutline(outline),
    tagged: tags >= MIN_TAGS,
  };
}

function mostOf<Key>(counts: ReadonlyMap<Key, number>): Key | undefined {
  return [...counts].reduce<[Key, number] | undefined>(
    (most, entry) => (most === undefined || entry[1] > most[1] ? entry : most),
    undefined,
  )?.[0];
}

function readOutline(nodes: readonly PdfOutlineNode[] | null): Map<string, number> {
  const depths = new Map<string, number>();
  const queue = (nodes ?? []).map((node) => ({ node, depth: 1 }));
  for (let at = 0; at < queue.length && depths.size < MAX_OUTLINE; at++) {
    const entry = queue[at];
    if (entry === undefined) break;
    const title = normaliseTitle(entry.node.title);
    if (title.length > 1 && !depths.has(title)) depths.set(title, Math.min(6, entry.depth));
    for (const node of entry.node.items) queue.push({ node, depth: entry.depth + 1 });
  }
  return depths;
}

/** Titles are compared without their numbers, marks and case. */
function normaliseTitle(title: string): string {
  return title
    .toLowerCase()
    .replace(/^[\s\d.]+/, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The level of a heading, or undefined when these lines are none. */
export function headingLevel(lines: readonly Segment[], statistics: DocumentStatistics): number | undefined {
  const [first] = lines;
  if (first === undefined || lines.length > 4) return undefined;
  const text = lines.map((line) => line.text).join(' ');
  if (text.length > 250 || !/\p{L}/u.test(text) || (text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < 2) return undefined;
  if (first.tag !== undefined && lines.every(({ tag }) => tag === first.tag)) return first.tag;
  const known = statistics.outline.get(normaliseTitle(text));
  if (known !== undefined) return known;
  if (statistics.tagged) return undefined;
  const rank = statistics.headingSizes.findIndex((size) => size <= roundSize(first.size));
  const isLarge = roundSize(first.size) >= statistics.bodySize * HEADING_RATIO;
  if (isLarge) return (rank < 0 ? statistics.headingSizes.length : rank) + 1;
  const standsOut = lines.every(
    (line) => line.font === first.font && line.font !== statistics.bodyFont && !line.font.endsWith(' mono'),
  );
  const isShort = lines.length <= 2 && text.length <= 100;
  const reads = /^[\p{Lu}\p{Lo}\p{N}]/u.test(text) && !/[.,;:!?。、，；]$/.test(text) && /\p{L}{2}/u.test(text);
  if (standsOut && isShort && reads && first.size >= statistics.bodySize * 0.95)
    return Math.min(6, statistics.headingSizes.length + 1);
  return undefined;
}
