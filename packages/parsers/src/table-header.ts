/** A cell that is a value rather than a name: a number, an amount, a date, a truth value. */
const VALUE =
  /^(?:[-+(]?[$€£¥]?\s?\d[\d\s.,:/%)eE+-]*(?:[$€£¥]|[A-Za-z]{1,3})?|\d{4}-\d\d-\d\d.*|true|false|yes|no|n\/?a|null|nan)$/i;

/** A cell of a row of units: `mm`, `°C`, `%`, or anything in brackets. */
const UNIT =
  /^(?:\[[^\]]{1,20}\]|\([^)]{1,20}\)|[%‰°€$£¥]|°[CF]|[kMGmµcdn]?(?:m|g|s|l|L|W|V|A|Hz|Pa|J|N|K|mol|bar|Wh|VA|Ω|eV|bit|B)(?:[²³23])?|(?:k?g|m|km|W|J|l|mol)\/\S{1,6}|min|h|d|t|rpm|ppm|pcs|EUR|USD|GBP|CHF|n\/a|-)$/u;

/**
 * How many leading rows of a bare grid are its header: 0 where the first row is plainly data, that is, holds values as the rows below
 * do; more than 1 where groups of columns stand above their names, or a row of units below them.
 */
export function headerRowsOf(rows: readonly (readonly string[])[]): number {
  if (isGroupedHeader(rows)) return isUnitRow(rows[2], rows.slice(3)) ? 3 : 2;
  const first = firstRowIsHeader(rows);
  return first === 1 && isUnitRow(rows[1], rows.slice(2)) ? 2 : first;
}

const isValue = (cell: string): boolean => VALUE.test(cell.trim());
const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell.trim());

/** Names of groups above names of columns: the first row leaves cells blank or repeats them, the second names each column of a group. */
function isGroupedHeader(rows: readonly (readonly string[])[]): boolean {
  const [top = [], second = [], ...below] = rows;
  const first = second.map((_, column) => top[column] ?? '');
  const groups = new Set(first.map((cell) => cell.trim()).filter((cell) => cell !== ''));
  const spans = first.filter((cell, column) => column > 0 && (cell.trim() === '' || cell === first[column - 1])).length;
  const names = second.filter((cell) => cell.trim() !== '');
  if (below.length === 0 || groups.size < 2 || spans < 2 || names.length < 2 || second.length < top.length) return false;
  if (first.some((cell) => isValue(cell) && !isYear(cell)) || names.some((cell) => isValue(cell) && !isYear(cell))) return false;
  // Each column has a name in one of the two, and those under a group differ.
  if (second.some((cell, column) => cell.trim() === '' && (first[column] ?? '').trim() === '')) return false;
  if (second.every((cell, column) => column === 0 || cell === second[column - 1] || cell.trim() === '')) return false;
  const data = below
    .slice(0, 20)
    .flat()
    .filter((cell) => cell.trim() !== '');
  return data.filter(isValue).length * 3 >= data.length;
}

/** `mm`, `[kg]`, `%` below the names, over numbers. */
function isUnitRow(row: readonly string[] | undefined, below: readonly (readonly string[])[]): boolean {
  const filled = (row ?? []).filter((cell) => cell.trim() !== '');
  if (filled.length === 0 || below.length === 0 || !filled.every((cell) => UNIT.test(cell.trim()))) return false;
  const columns = (row ?? []).flatMap((cell, column) => (cell.trim() === '' ? [] : [column]));
  return columns.some((column) => below.slice(0, 5).some((line) => /\d/.test(line[column] ?? '')));
}

function firstRowIsHeader(rows: readonly (readonly string[])[]): 0 | 1 {
  const [first, ...rest] = rows;
  if (first === undefined || rest.length === 0) return 0;
  const filled = first.filter((cell) => cell.trim() !== '');
  if (filled.length === 0) return 0;
  const values = filled.filter(isValue).length;
  if (values === 0) return 1;
  // Years as column names, over numbers that are no years.
  const years = filled.filter(isYear).length;
  const below = rest.slice(0, 20).flat();
  const belowYears = below.filter(isYear).length;
  if (years === values && belowYears * 5 < below.length) return 1;
  return values * 3 > filled.length ? 0 : 1;
}
