import { cleanText } from '../clean-text.js';
import { createTagReader, headingTags, isMark } from './heading-tags.js';
import type { PdfPage, PdfTextContent, PdfTextItem } from './pdf-types.js';

/** A run of text on a straight line, in a frame in which it reads from left to right and lines follow downwards. In points. */
export interface Run {
  text: string;
  x0: number;
  x1: number;
  /** Of the baseline; grows downwards. */
  y: number;
  size: number;
  /** Its id in the document, with ` mono` behind it for one of fixed width. */
  font: string;
  rtl: boolean;
  /** White space was drawn before it. */
  spaceBefore: boolean;
  /** The level of the heading that its document's tags say it is part of. */
  tag?: number;
}

/** Runs that read in one direction. */
export interface RunGroup {
  /** Degrees clockwise; `vertical` for CJK columns. */
  angle: number | 'vertical';
  runs: Run[];
  /** Extent of the frame: of the page, as seen in this direction. */
  top: number;
  bottom: number;
}

type Matrix = readonly [number, number, number, number, number, number];

/** Smaller text is no text for a reader. */
const MIN_SIZE = 1.5;

/** Glyphs that no character is known of: control characters, and private ones but for those of symbol fonts (bullets and the like). */
const UNMAPPED = /[\u0000-\u0008\u000e-\u001f\ufffd\ue000-\uf01f\uf100-\uf8ff]/g;

/**
 * The runs of a page by direction of reading, the direction with most text first.
 *
 * @param glyphs counts those that can't be read
 */
export async function readRuns(page: PdfPage, glyphs = { unmapped: 0 }): Promise<RunGroup[]> {
  const viewport = page.getViewport({ scale: 1 });
  const content = await page.getTextContent({ includeMarkedContent: true, disableNormalization: true });
  const hasMarks = content.items.some((item) => isMark(item) && item.id !== undefined);
  const follow = createTagReader(hasMarks ? await headingTags(page) : new Map());
  let tag: number | undefined;
  const groups = new Map<number | 'vertical', Run[]>();
  let space = false;
  for (const item of content.items) {
    if (isMark(item)) {
      tag = follow(item);
      continue;
    }
    glyphs.unmapped += item.str.match(UNMAPPED)?.length ?? 0;
    const text = readable(cleanText(item.str), item);
    if (text.trim() === '') {
      space ||= item.str !== '';
      continue;
    }
    const placed = place(item, toMatrix(viewport.transform), content.styles[item.fontName]?.vertical === true, viewport);
    if (placed === undefined) continue;
    const list = groups.get(placed.angle) ?? [];
    groups.set(placed.angle, list);
    const spaceBefore = space || /^\s/.test(text);
    const font = fontOf(item, content.styles);
    list.push({
      ...placed.run,
      text: text.trim(),
      font,
      rtl: item.dir === 'rtl',
      spaceBefore,
      ...(tag === undefined ? {} : { tag }),
    });
    space = /\s$/.test(text) || item.hasEOL;
  }
  return [...groups]
    .flatMap(([angle, runs]) =>
      apartFromWatermarks(withoutDoubles(runs)).map((own) => ({ angle, runs: own, ...frameOf(angle, viewport) })),
    )
    .sort((a, b) => textLength(b.runs) - textLength(a.runs));
}

/** Ligatures, forms of Arabic letters and the like; the library turns those of right-to-left text about. */
const FORMS = /[\u00a0\u00b5\u037e\u2000-\u200a\u202f\u2126\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdfb\ufe70-\ufefc]+/g;
/** Letters that are set apart for looks. */
const SPACED_OUT = /^\p{L}(?: \p{L}){3,}$/u;
/** Letters drawn twice advance less than this share of the font size each. */
const DOUBLED_ADVANCE = 0.42;

function readable(text: string, item: PdfTextItem): string {
  const plain = text.replace(FORMS, (forms) => forms.normalize('NFKC'));
  if (SPACED_OUT.test(plain.trim())) return plain.replaceAll(' ', '');
  return isDoubled(plain, item) ? plain.replace(/(\S)\1/gu, '$1') : plain;
}

/** TTOORRQQUUEE: each letter drawn twice, a little apart, to make it bold. */
function isDoubled(text: string, { transform, width }: PdfTextItem): boolean {
  const letters = text.replace(/\s+/g, '');
  if (letters.length < 6 || !/^(?:(\S)\1)+$/u.test(letters)) return false;
  const size = Math.hypot(transform[2] ?? 0, transform[3] ?? 0);
  return width < letters.length * size * DOUBLED_ADVANCE;
}

function fontOf(item: PdfTextItem, styles: PdfTextContent['styles']): string {
  return `${item.fontName}${styles[item.fontName]?.fontFamily === 'monospace' ? ' mono' : ''}`;
}

function textLength(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.text.length, 0);
}

function toMatrix(values: readonly number[]): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = values;
  return [a, b, c, d, e, f];
}

function multiply(m: Matrix, n: Matrix): Matrix {
  return [
    m[0] * n[0] + m[2] * n[1],
    m[1] * n[0] + m[3] * n[1],
    m[0] * n[2] + m[2] * n[3],
    m[1] * n[2] + m[3] * n[3],
    m[0] * n[4] + m[2] * n[5] + m[4],
    m[1] * n[4] + m[3] * n[5] + m[5],
  ];
}

interface PageSize {
  width: number;
  height: number;
}

function place(
  item: PdfTextItem,
  view: Matrix,
  vertical: boolean,
  page: PageSize,
): { angle: number | 'vertical'; run: Pick<Run, 'x0' | 'x1' | 'y' | 'size'> } | undefined {
  const [a, b, c, d, x, y] = multiply(view, toMatrix(item.transform));
  const size = Math.hypot(c, d) || Math.hypot(a, b);
  if (![a, b, x, y, size].every(Number.isFinite) || size < MIN_SIZE) return undefined;
  if (x < -size || y < -size || x > page.width + size || y > page.height + size) return undefined;
  if (vertical) return { angle: 'vertical', run: { x0: y, x1: y + item.height, y: -x, size } };
  // Slanted a little is straight.
  const angle = Math.round((Math.atan2(b, a) * 180) / Math.PI / 2) * 2;
  const turn = (angle * Math.PI) / 180;
  const along = x * Math.cos(turn) + y * Math.sin(turn);
  const across = -x * Math.sin(turn) + y * Math.cos(turn);
  return { angle, run: { x0: along, x1: along + item.width, y: across, size } };
}

function frameOf(angle: number | 'vertical', page: PageSize): { top: number; bottom: number } {
  if (angle === 'vertical') return { top: -page.width, bottom: 0 };
  const turn = (angle * Math.PI) / 180;
  const corners = [0, page.width].flatMap((x) => [0, page.height].map((y) => -x * Math.sin(turn) + y * Math.cos(turn)));
  return { top: Math.min(...corners), bottom: Math.max(...corners) };
}

/** Words of this many times the size of the text, across lines of it, are a watermark. */
const WATERMARK = 3;

/** The runs of the text, then those of watermarks, which are no part of the lines that they cross. */
function apartFromWatermarks(runs: Run[]): Run[][] {
  const sizes = runs
    .flatMap((run) => Array.from({ length: Math.min(run.text.length, 200) }, () => run.size))
    .sort((a, b) => a - b);
  const usual = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const crosses = (large: Run): boolean =>
    runs.some(
      (run) =>
        run.size < large.size / 2 && run.y <= large.y && run.y > large.y - large.size && run.x0 < large.x1 && run.x1 > large.x0,
    );
  const marks = new Set(runs.filter((run) => run.size > usual * WATERMARK && run.text.length > 2 && crosses(run)));
  return marks.size === 0 ? [runs] : [runs.filter((run) => !marks.has(run)), [...marks]];
}

/** Some programs draw text twice to make it bold. */
function withoutDoubles(runs: Run[]): Run[] {
  const seen = new Map<string, Run[]>();
  return runs.filter((run) => {
    const twins = seen.get(run.text) ?? [];
    if (twins.some((twin) => Math.abs(twin.x0 - run.x0) < run.size * 0.15 && Math.abs(twin.y - run.y) < run.size * 0.15))
      return false;
    twins.push(run);
    seen.set(run.text, twins);
    return true;
  });
}
