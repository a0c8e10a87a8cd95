import { lowered, raised } from '../scripts.js';
import type { Run } from './runs.js';

/** Text without wide gaps in it. */
export interface Segment {
  text: string;
  x0: number;
  x1: number;
  y: number;
  size: number;
  /** The font of most of its text. */
  font: string;
  rtl: boolean;
  /** Of its longest run: see there. */
  tag?: number;
}

/** Segments on one baseline, from left to right. */
export interface Row {
  y: number;
  size: number;
  segments: Segment[];
}

/** A gap of this many font sizes parts segments: wider than most spaces in justified lines (those that are wider are joined again), narrower than gutters. */
const SEGMENT_GAP = 0.75;
/** A gap of this many font sizes is a space. */
const SPACE_GAP = 0.17;
/** Baselines this near (in font sizes) are one; raised and lowered text is up to the second. */
const SAME_LINE = 0.3;
const RAISED = 0.6;

const MARKER = /^(?:[•◦▪▫‣●○■□◆◇➢✓✔❑❖·∙]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[-–—*])$/;

export function rowsOf(runs: readonly Run[]): Row[] {
  const rows: { y: number; size: number; runs: Run[] }[] = [];
  for (const run of [...runs].sort((a, b) => a.y - b.y || a.x0 - b.x0)) {
    // Raised text comes before its line: the last few rows are looked at.
    const row = rows.slice(-3).findLast((candidate) => belongs(run, candidate));
    if (row === undefined) rows.push({ y: run.y, size: run.size, runs: [run] });
    else {
      row.runs.push(run);
      if (run.size > row.size * 1.15) {
        row.size = run.size;
        row.y = run.y;
      }
    }
  }
  rows.sort((a, b) => a.y - b.y);
  return withRaised(rows).map(({ y, size, runs: members }) => ({ y, size, segments: segmentsOf(members, y) }));
}

type RawRow = { y: number; size: number; runs: Run[] };

/** Puts rows of raised or lowered signs into the line that they belong to. */
function withRaised(rows: readonly RawRow[]): RawRow[] {
  const kept: RawRow[] = [];
  for (const [index, row] of rows.entries()) {
    const line = [rows[index + 1], kept.at(-1)].find(
      (near) => near !== undefined && row.size < 0.85 * near.size && row.runs.every((run) => belongs(run, near)),
    );
    if (line === undefined) kept.push(row);
    else line.runs.push(...row.runs);
  }
  return kept;
}

function belongs(run: Run, row: { y: number; size: number; runs: Run[] }): boolean {
  const distance = Math.abs(run.y - row.y);
  if (distance <= SAME_LINE * Math.min(run.size, row.size)) return true;
  const ratio = run.size / row.size;
  if (ratio > 0.85 && ratio < 1.18) return false;
  if (distance > RAISED * Math.max(run.size, row.size)) return false;
  // A raised sign touches what it belongs to.
  return row.runs.some((other) => run.x0 - other.x1 < other.size * 0.5 && other.x0 - run.x1 < other.size * 0.5);
}

function segmentsOf(runs: Run[], y: number): Segment[] {
  const sorted = withoutOverlaps([...runs].sort((a, b) => a.x0 - b.x0));
  const groups: Run[][] = [];
  for (const run of sorted) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group === undefined || last === undefined) groups.push([run]);
    else {
      const gap = run.x0 - last.x1;
      const isMarker = group.length === 1 && MARKER.test(last.text) && gap < 5 * run.size;
      const firstOnly = /^[-–—*]$|^\(?[a-zA-Z\d]/.test(last.text) && (groups.length > 1 || gap > 3 * run.size);
      if (gap <= SEGMENT_GAP * Math.min(run.size, last.size) || (isMarker && !firstOnly)) group.push(run);
      else groups.push([run]);
    }
  }
  return groups.map((group) => toSegment(group, y));
}

/** Runs that lie on each other by this many font sizes hold a letter twice. */
const OVERLAP = 0.2;

/** Letters drawn twice, a little apart, may end one run and begin the next: `TO`, `OR`, `RQ`. What was there already goes. */
function withoutOverlaps(sorted: readonly Run[]): Run[] {
  const kept: Run[] = [];
  for (const run of sorted) {
    const last = kept.at(-1);
    const overlap = last === undefined ? 0 : last.x1 - run.x0;
    const twice = last === undefined || overlap < OVERLAP * run.size ? 0 : repeatedStart(last, run, overlap);
    if (last === undefined || twice === 0) kept.push(run);
    else if (twice < run.text.length) {
      const rest = run.text.slice(twice);
      const spaceBefore = /^\s/.test(rest);
      kept.push({ ...run, text: rest.trim(), x0: last.x1 + (spaceBefore ? SPACE_GAP * run.size : 0), spaceBefore });
    }
  }
  return kept;
}

/** How much of a run's beginning stands at the end of the one before, about as long as they overlap. */
function repeatedStart(last: Run, run: Run, overlap: number): number {
  const usual = (overlap * run.text.length) / Math.max(run.x1 - run.x0, 0.1);
  for (let length = Math.min(last.text.length, run.text.length); length > 0; length--) {
    if (last.text.endsWith(run.text.slice(0, length))) return length <= 2 * usual + 1 && usual <= 2 * length + 1 ? length : 0;
  }
  return 0;
}

function toSegment(runs: readonly Run[], y: number): Segment {
  const rtlLength = runs.reduce((sum, run) => sum + (run.rtl ? run.text.length : 0), 0);
  const length = runs.reduce((sum, run) => sum + run.text.length, 0);
  const rtl = rtlLength * 2 > length;
  const ordered = rtl ? inReadingOrder(runs) : runs;
  const spread = spreadOf(ordered);
  const longest = runs.reduce((most, run) => (run.text.length > most.text.length ? run : most));
  let text = '';
  for (const [index, run] of ordered.entries()) {
    const before = ordered[index - 1];
    if (before !== undefined) text += isSpaced(before, run, spread) ? ' ' : '';
    text += scriptOf(run, text, longest.size, y);
  }
  return {
    text: withoutLeaders(text),
    x0: Math.min(...runs.map((run) => run.x0)),
    x1: Math.max(...runs.map((run) => run.x1)),
    y,
    size: longest.size,
    font: longest.font,
    rtl,
    ...(longest.tag === undefined ? {} : { tag: longest.tag }),
  };
}

/** Right-to-left lines from their right end; numbers and Latin words in them from left to right. */
function inReadingOrder(runs: readonly Run[]): Run[] {
  const ordered: Run[] = [];
  let from = 0;
  for (const run of runs.toReversed()) {
    if (run.rtl) from = ordered.length + 1;
    ordered.splice(run.rtl ? ordered.length : from, 0, run);
  }
  return ordered;
}

/** A mark on the line is smaller than the line by this share, and raised or lowered by that share of its size. */
const SCRIPT_SIZE = 0.85;
const SCRIPT_SHIFT = 0.12;
const MAX_SCRIPT = 12;

function scriptOf(run: Run, before: string, size: number, y: number): string {
  if (before === '' || run.rtl || run.text.length > MAX_SCRIPT || run.size > size * SCRIPT_SIZE) return run.text;
  const shift = (y - run.y) / size;
  if (shift > SCRIPT_SHIFT) return raised(before, run.text);
  return shift < -SCRIPT_SHIFT / 2 ? lowered(before, run.text) : run.text;
}

/** Letters drawn one by one, this many at least, may be set apart for looks. */
const MIN_SPREAD = 4;

/** The usual gap between letters that are set apart, where all of a segment is; undefined for ordinary text. */
function spreadOf(runs: readonly Run[]): number | undefined {
  if (runs.length < MIN_SPREAD || runs.some((run) => !/^\p{L}$/u.test(run.text))) return undefined;
  const gaps = runs
    .slice(1)
    .map((run, index) => gapOf(runs[index] ?? run, run))
    .sort((a, b) => a - b);
  const median = gaps[Math.floor(gaps.length / 2)] ?? 0;
  return median > SPACE_GAP * (runs[0]?.size ?? 0) ? median : undefined;
}

function gapOf(before: Run, run: Run): number {
  return Math.max(run.x0 - before.x1, before.x0 - run.x1);
}

const CJK = /[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;

function isSpaced(before: Run, run: Run, spread: number | undefined): boolean {
  const gap = gapOf(before, run);
  const size = Math.min(before.size, run.size);
  if (spread !== undefined) return gap > 1.6 * spread;
  // Characters of East Asian scripts are set apart without a space being meant.
  if (CJK.test(before.text.at(-1) ?? '') && CJK.test(run.text.charAt(0))) return gap > 0.6 * size;
  return gap > SPACE_GAP * size || (run.spaceBefore && gap > 0.05 * size);
}

/** Dots that lead the eye to a page number. */
function withoutLeaders(text: string): string {
  return text.replace(/\s*(?:[.·…_]\s?){5,}\s*/g, ' ').trim();
}
