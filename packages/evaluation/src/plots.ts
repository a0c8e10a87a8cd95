import type { Estimate } from './statistics.js';

type Interval = Pick<Estimate, 'mean' | 'low' | 'high'>;

const BLUE = '#2b6cb0';
const RED = '#b83232';

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function svg(width: number, height: number, parts: readonly string[]): string {
  const names = 'font-family="system-ui, sans-serif" font-size="12" fill="#1c2733" role="img"';
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ${names}>${parts.join('\n')}</svg>`;
}

/** A dot with its interval for each of some values between 0 and 1. */
export function intervalPlot(rows: readonly { name: string; value: Interval }[]): string {
  const left = 220;
  const width = 460;
  const step = 26;
  const x = (value: number) => (left + width * value).toFixed(1);
  const height = rows.length * step + 30;
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${x(value)}" x2="${x(value)}" y1="5" y2="${height - 22}" stroke="#dde3ea"/><text x="${x(value)}" y="${height - 6}" text-anchor="middle">${value}</text>`,
  );
  const marks = rows.map(({ name, value }, index) => {
    const y = 18 + index * step;
    return `<text x="${left - 10}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>
<line x1="${x(value.low)}" x2="${x(value.high)}" y1="${y}" y2="${y}" stroke="${BLUE}" stroke-width="3"/>
<circle cx="${x(value.mean)}" cy="${y}" r="5" fill="${BLUE}"/><text x="${left + width + 12}" y="${y + 4}">${value.mean.toFixed(3)}</text>`;
  });
  return svg(left + width + 70, height, [...grid, ...marks]);
}

const BINS = 10;

/** How many of some values between 0 and 1 lie in each tenth. */
export function histogram(values: readonly number[]): string {
  const counts = Array.from({ length: BINS }, () => 0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor(value * BINS));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts);
  const marks = counts.map((count, bin) => {
    const height = (120 * count) / most;
    return `<rect x="${20 + bin * 60}" y="${140 - height}" width="52" height="${height}" fill="${BLUE}"/>
<text x="${46 + bin * 60}" y="${135 - height}" text-anchor="middle">${count}</text>
<text x="${46 + bin * 60}" y="158" text-anchor="middle">${(bin / BINS).toFixed(1)}</text>`;
  });
  return svg(640, 165, marks);
}

export interface PlottedPoint {
  /** Shown when the pointer rests on it. */
  name: string;
  x: number;
  y: Interval;
  best: boolean;
}

/** Values with their intervals over some quantity, which begins at 0. Numbers name the points, in their order. */
export function scatterPlot(points: readonly PlottedPoint[], xTitle: string, yTitle: string): string {
  const [left, top, width, height] = [60, 16, 560, 260];
  const most = Math.max(...points.map(({ x }) => x), 1e-9) * 1.1;
  const low = Math.min(...points.map(({ y }) => y.low));
  const high = Math.max(...points.map(({ y }) => y.high), low + 0.01);
  const px = (x: number) => (left + (width * x) / most).toFixed(1);
  const py = (y: number) => (top + height - (height * (y - low)) / (high - low)).toFixed(1);
  const axes = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
    const [x, y] = [most * share, low + (high - low) * share];
    return [
      `<line x1="${left}" x2="${left + width}" y1="${py(y)}" y2="${py(y)}" stroke="#dde3ea"/>`,
      `<text x="${left - 8}" y="${Number(py(y)) + 4}" text-anchor="end">${y.toFixed(2)}</text>`,
      `<text x="${px(x)}" y="${top + height + 18}" text-anchor="middle">${x < 10 ? x.toFixed(1) : Math.round(x)}</text>`,
    ];
  });
  const titles = `<text x="${left + width / 2}" y="${top + height + 38}" text-anchor="middle">${escaped(xTitle)}</text>
<text x="14" y="${top + height / 2}" text-anchor="middle" transform="rotate(-90 14 ${top + height / 2})">${escaped(yTitle)}</text>`;
  const marks = points.map(({ name, x, y, best }, index) => {
    const colour = best ? RED : BLUE;
    return `<g><title>${escaped(`${name}: ${y.mean.toFixed(3)}`)}</title>
<line x1="${px(x)}" x2="${px(x)}" y1="${py(y.low)}" y2="${py(y.high)}" stroke="${colour}" stroke-opacity="0.5" stroke-width="2"/>
<circle cx="${px(x)}" cy="${py(y.mean)}" r="5" fill="${colour}"/><text x="${Number(px(x)) + 8}" y="${Number(py(y.mean)) - 6}" font-size="11">${index + 1}</text></g>`;
  });
  return svg(left + width + 20, top + height + 48, [...axes, titles, ...marks]);
}
