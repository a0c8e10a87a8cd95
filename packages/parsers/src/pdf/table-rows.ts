/** Cells on one baseline of a table. */
export interface CellLine {
  y: number;
  size: number;
  cells: string[];
}

const NUMERIC = /^[-+($€£¥]?\s?[\d.,\s]+%?\)?$|^[-–—]$|^n\/?a$/i;

export const isNumeric = (cell: string): boolean => NUMERIC.test(cell);

/** Baselines this near (in font sizes) are lines of one text. */
const TEXT_STEP = 1.35;
/** How far (in steps) a label may stand from the middle of the rows it names. */
const OFF_MIDDLE = 0.3;

const filled = (cells: readonly string[]): number[] => cells.flatMap((cell, column) => (cell === '' ? [] : [column]));

/**
 * The rows of a table from its lines: a header over several lines is one row, cells that go on in the next line are put together, a
 * label that stands in the middle of several rows or only at the first of them is repeated in each.
 */
export function tableRows(lines: readonly CellLine[]): string[][] {
  const placed = withoutMiddleLabels(joinHeader(lines.map((line) => ({ ...line, cells: [...line.cells] }))));
  return repeatLabels(mergeWrapped(placed));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function usualStep(lines: readonly CellLine[]): number {
  return median(lines.slice(1).map((line, index) => line.y - (lines[index]?.y ?? 0)));
}

function join(above: readonly string[], below: readonly string[]): string[] {
  return below.map((cell, column) => `${above[column] ?? ''} ${cell}`.trim());
}

/** The first line has no first cell and stands close over a second one without numbers: both are the header. */
export function joinHeader(lines: CellLine[]): CellLine[] {
  const [first, second, ...rest] = lines;
  if (first === undefined || second === undefined || rest.length < 2) return lines;
  const step = second.y - first.y;
  const isClose = step < TEXT_STEP * first.size && step < 0.95 * (rest[0] === undefined ? step : rest[0].y - second.y);
  const words = [...first.cells, ...second.cells].every((cell) => !isNumeric(cell));
  const over = filled(first.cells).every((column) => second.cells[column] !== '');
  const has = filled(first.cells).length > 1 && first.cells[0] === '' && rest.some(({ cells }) => cells.some(isNumeric));
  if (!isClose || !words || !over || !has) return lines;
  return [{ ...second, cells: join(first.cells, second.cells) }, ...rest];
}

/** Labels between two lines, at the middle of what they name: given to each row of it, or to the one row whose text runs around them. */
function withoutMiddleLabels(lines: readonly CellLine[]): CellLine[] {
  const result: CellLine[] = [];
  const step = usualStep(lines);
  for (let at = 0; at < lines.length; at++) {
    const label = lines[at];
    if (label === undefined) break;
    const own = filled(label.cells);
    const above = heldBack(result, own);
    const below = lines.slice(at + 1, at + 1 + above);
    const first = result[result.length - above];
    const last = below.at(-1);
    const isMiddle =
      above > 0 &&
      label.cells[0] !== '' &&
      first !== undefined &&
      last !== undefined &&
      below.length === above &&
      below.every(({ cells }) => own.every((column) => cells[column] === '')) &&
      Math.abs(label.y - (first.y + last.y) / 2) <= OFF_MIDDLE * Math.max(step, label.size);
    if (!isMiddle) {
      result.push(label);
      continue;
    }
    const around = [...result.splice(result.length - above), ...below];
    at += above;
    if (isOneText(around, label))
      result.push({
        ...first,
        y: last.y,
        cells: around
          .map(({ cells }) => cells)
          .reduce(join)
          .map((cell, column) => cell || (label.cells[column] ?? '')),
      });
    else
      result.push(
        ...around.map((line) => ({ ...line, cells: line.cells.map((cell, column) => cell || (label.cells[column] ?? '')) })),
      );
  }
  return result;
}

/** How many lines at the end of the rows so far have none of these cells. The header is none of them. */
function heldBack(rows: readonly CellLine[], columns: readonly number[]): number {
  let count = 0;
  while (count < rows.length - 1 && columns.every((column) => rows[rows.length - 1 - count]?.cells[column] === '')) count++;
  return count;
}

/** Lines that stand as close as those of one text, none of which holds a number where another does. */
function isOneText(around: readonly CellLine[], label: CellLine): boolean {
  const step = ((around.at(-1)?.y ?? 0) - (around[0]?.y ?? 0)) / Math.max(1, around.length - 1);
  const numbers = label.cells.some((_, column) => around.filter(({ cells }) => isNumeric(cells[column] ?? '')).length > 1);
  return step <= TEXT_STEP * label.size && !numbers;
}

/** Lines that go on within a cell: rows that begin with nothing, close under the row before. */
function mergeWrapped(lines: readonly CellLine[]): string[][] {
  const merged: string[][] = [];
  const usual = usualStep(lines);
  for (const [index, { cells, y, size }] of lines.entries()) {
    const above = merged.at(-1);
    const step = y - (lines[index - 1]?.y ?? Number.NEGATIVE_INFINITY);
    const count = filled(cells).length;
    const isRest = cells[0] === '' && count > 0 && step < Math.max(size * 1.5, usual * 0.9);
    const isPart = isRest && count < cells.length - 1;
    if (above !== undefined && (isPart || (isRest && step < usual * 0.9)))
      for (const [column, cell] of cells.entries()) above[column] = `${above[column] ?? ''} ${cell}`.trim();
    else merged.push([...cells]);
  }
  return merged;
}

/** Rows without a label of their own, but with all other cells, belong to the label above, where a table has several such. */
function repeatLabels(rows: string[][]): string[][] {
  const isRest = (cells: readonly string[]): boolean =>
    cells.length > 2 && cells[0] === '' && filled(cells).length === cells.length - 1;
  const labels = rows.filter((cells, index) => index > 0 && cells[0] !== '');
  const areNames =
    labels.length > 1 && labels.every((cells) => !isNumeric(cells[0] ?? '') && filled(cells).length === cells.length);
  if (!areNames || rows.filter(isRest).length < 2 || rows[1]?.[0] === '') return rows;
  for (const [index, cells] of rows.entries()) if (index > 1 && isRest(cells)) cells[0] = rows[index - 1]?.[0] ?? '';
  return rows;
}
