import { readPdfTable } from './pdf-table.js';
import type { Row, Segment } from './rows.js';

/** What stands together on a page, in reading order. */
export type Region =
  | { kind: 'lines'; lines: Segment[]; x0: number; x1: number }
  | { kind: 'table'; rows: string[][]; y0: number; y1: number };

/** Segments that a gutter must part on each side. */
const MIN_SIDE = 3;
/** Narrowest gutter, in font sizes. */
const GUTTER = 0.6;
/** From this width on a gutter needs no straight edge. */
const WIDE_GUTTER = 2;
/** Edges that are tried. */
const MAX_CANDIDATES = 60;
/** More segments are no page of text; looking for columns among them would take too long. */
const MAX_SEGMENTS = 6_000;
const MAX_DEPTH = 12;

/** Rows of a page in reading order: columns one after the other, tables as rows. */
export function regionsOf(rows: readonly Row[], depth = 0): Region[] {
  if (rows.length === 0) return [];
  const gutter = depth < MAX_DEPTH ? findGutter(rows) : undefined;
  if (gutter === undefined) return [linesRegion(rows)];
  const regions: Region[] = [];
  let plain: Row[] = [];
  const flush = (): void => {
    if (plain.length > 0) regions.push(...regionsOf(plain, depth + 1));
    plain = [];
  };
  let at = 0;
  for (const band of gutter.bands) {
    plain.push(...rows.slice(at, band.from));
    const inside = rows.slice(band.from, band.to);
    at = band.to;
    const table = readPdfTable(inside);
    if (table !== undefined) {
      plain.push(...inside.slice(0, table.from));
      const header = table.takeHeader(plain);
      flush();
      regions.push({
        kind: 'table',
        rows: [...header, ...table.rows],
        y0: inside[table.from]?.y ?? 0,
        y1: inside[table.to - 1]?.y ?? 0,
      });
      plain.push(...inside.slice(table.to));
      continue;
    }
    flush();
    const rtl = inside.flatMap((row) => row.segments).filter((segment) => segment.rtl).length * 2 > inside.length;
    const left = sideOf(inside, (segment) => isLeftOf(segment, gutter.x));
    const right = sideOf(inside, (segment) => !isLeftOf(segment, gutter.x));
    for (const side of rtl ? [right, left] : [left, right]) regions.push(...regionsOf(side, depth + 1));
  }
  plain.push(...rows.slice(at));
  flush();
  return regions;
}

function linesRegion(rows: readonly Row[]): Region {
  const lines = rows.map((row) => joinSegments(row));
  return { kind: 'lines', lines, x0: Math.min(...lines.map((line) => line.x0)), x1: Math.max(...lines.map((line) => line.x1)) };
}

function joinSegments(row: Row): Segment {
  const [first, ...rest] = row.segments;
  if (first === undefined) return { text: '', x0: 0, x1: 0, y: row.y, size: row.size, font: '', rtl: false };
  if (rest.length === 0) return first;
  const rtl = row.segments.filter((segment) => segment.rtl).length * 2 > row.segments.length;
  const ordered = rtl ? [...row.segments].reverse() : row.segments;
  const longest = row.segments.reduce((most, segment) => (segment.text.length > most.text.length ? segment : most));
  return {
    ...longest,
    text: ordered.map((segment) => segment.text).join(' '),
    x0: Math.min(...row.segments.map((segment) => segment.x0)),
    x1: Math.max(...row.segments.map((segment) => segment.x1)),
    rtl,
  };
}

/** By how much of its size a line may reach into a gutter. */
const OVERHANG = 0.35;

const isLeftOf = (segment: Segment, x: number): boolean => segment.x1 <= x + OVERHANG * segment.size;

function sideOf(rows: readonly Row[], isOn: (segment: Segment) => boolean): Row[] {
  return rows.map((row) => ({ ...row, segments: row.segments.filter(isOn) })).filter((row) => row.segments.length > 0);
}

interface Band {
  /** Rows, the end not included. */
  from: number;
  to: number;
}

interface Gutter {
  x: number;
  bands: Band[];
}

/** The vertical line that parts most text without crossing any, over stretches of rows. */
function findGutter(rows: readonly Row[]): Gutter | undefined {
  const segments = rows.flatMap((row) => row.segments);
  if (segments.length > MAX_SEGMENTS) return undefined;
  let best: (Gutter & { score: number }) | undefined;
  for (const x of candidates(segments)) {
    const bands = bandsAt(rows, x);
    const score = bands.reduce(
      (sum, band) => sum + rows.slice(band.from, band.to).reduce((count, row) => count + row.segments.length, 0),
      0,
    );
    if (score > (best?.score ?? 0)) best = { x, bands, score };
  }
  return best;
}

/** Left edges that several segments share, and right edges: a gutter runs beside them. */
function candidates(segments: readonly Segment[]): number[] {
  const counts = new Map<number, number>();
  const add = (edge: number): void => {
    const key = Math.round(edge / 2) * 2;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const segment of segments) {
    add(segment.x0 - segment.size * 0.3);
    add(segment.x1 + segment.size * 0.3);
  }
  return [...counts]
    .filter(([edge, count]) => count + (counts.get(edge + 2) ?? 0) >= 2)
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_CANDIDATES)
    .map(([edge]) => edge);
}

function bandsAt(rows: readonly Row[], x: number): Band[] {
  const bands: Band[] = [];
  let from = 0;
  for (let index = 0; index <= rows.length; index++) {
    const row = rows[index];
    const crossed =
      row?.segments.some((segment) => segment.x0 < x - OVERHANG * segment.size && segment.x1 > x + OVERHANG * segment.size) ??
      true;
    if (!crossed) continue;
    const band = trimBand(rows, { from, to: index }, x);
    if (band !== undefined) bands.push(band);
    from = index + 1;
  }
  return bands;
}

/** A band counts when enough text stands on both sides, side by side, with a clear gutter between. */
function trimBand(rows: readonly Row[], band: Band, x: number): Band | undefined {
  const inside = rows.slice(band.from, band.to);
  const left = inside.flatMap((row, index) =>
    row.segments.filter((segment) => isLeftOf(segment, x)).map((segment) => ({ segment, index })),
  );
  const right = inside.flatMap((row, index) =>
    row.segments.filter((segment) => !isLeftOf(segment, x)).map((segment) => ({ segment, index })),
  );
  if (left.length < MIN_SIDE || right.length < MIN_SIDE) return undefined;
  const first = Math.max(left[0]?.index ?? 0, right[0]?.index ?? 0);
  const last = Math.min(left.at(-1)?.index ?? 0, right.at(-1)?.index ?? 0);
  const within = (place: { index: number }): boolean => place.index >= first && place.index <= last;
  const besideLeft = left.filter(within);
  const besideRight = right.filter(within);
  if (besideLeft.length < MIN_SIDE || besideRight.length < MIN_SIDE) return undefined;
  const size = Math.min(...besideLeft.map(({ segment }) => segment.size), ...besideRight.map(({ segment }) => segment.size));
  const leftEdge = Math.max(...besideLeft.map(({ segment }) => segment.x1));
  const rightEdge = Math.min(...besideRight.map(({ segment }) => segment.x0));
  const width = rightEdge - leftEdge;
  if (width < GUTTER * size) return undefined;
  // Wide spaces that lie above one another by chance have ragged edges; columns have a straight one.
  const isStraight =
    hasStraightEdge(besideRight.map(({ segment }) => segment.x0)) || hasStraightEdge(besideLeft.map(({ segment }) => segment.x1));
  if (width < WIDE_GUTTER * size && !isStraight) return undefined;
  // Lines that stand alone above both columns, close under the text before, belong to that text.
  const start = Math.min(left[0]?.index ?? 0, right[0]?.index ?? 0);
  return {
    from: band.from + (right[0] !== undefined && left[0] !== undefined && start < first - 2 ? first : start),
    to: band.to,
  };
}

/** Values this near are one edge, in points; so many of the values make it straight. */
const SAME_EDGE = 2.5;
const EDGE_SHARE = 0.4;
/** Columns with lists in them have an edge for each indent: a few, that nearly all lines share. */
const MAX_INDENTS = 4;
const INDENTED_SHARE = 0.8;
const MIN_INDENTED = 3;

/** True when many values are nearly the same, or nearly all are one of a few. */
function hasStraightEdge(values: readonly number[]): boolean {
  const groups: number[] = [];
  let start = Number.NEGATIVE_INFINITY;
  for (const value of [...values].sort((a, b) => a - b)) {
    if (value - start >= SAME_EDGE) {
      groups.push(0);
      start = value;
    }
    groups[groups.length - 1] = (groups.at(-1) ?? 0) + 1;
  }
  const shared = groups.filter((count) => count >= MIN_INDENTED).sort((a, b) => b - a);
  const indented = shared.slice(0, MAX_INDENTS).reduce((sum, count) => sum + count, 0);
  const sorted = [...values].sort((a, b) => a - b);
  const needed = Math.max(2, Math.ceil(sorted.length * EDGE_SHARE));
  const isOne = sorted.some((value, index) => (sorted[index + needed - 1] ?? Number.POSITIVE_INFINITY) - value < SAME_EDGE);
  return isOne || indented >= values.length * INDENTED_SHARE;
}
