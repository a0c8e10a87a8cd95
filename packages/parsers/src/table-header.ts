/** A cell that is a value rather than a name: a number, an amount, a date, a truth value. */
const VALUE =
  /^(?:[-+(]?[$€£¥]?\s?\d[\d\s.,:/%)eE+-]*(?:[$€£¥]|[A-Za-z]{1,3})?|\d{4}-\d\d-\d\d.*|true|false|yes|no|n\/?a|null|nan)$/i;

/**
 * How many leading rows of a bare grid are its header: 1, or 0 where the first row is plainly data, that is, holds values as the
 * rows below do.
 */
export function headerRowsOf(rows: readonly (readonly string[])[]): number {
  const [first, ...rest] = rows;
  if (first === undefined || rest.length === 0) return 0;
  const filled = first.filter((cell) => cell.trim() !== '');
  if (filled.length === 0) return 0;
  const values = filled.filter((cell) => VALUE.test(cell.trim())).length;
  if (values === 0) return 1;
  // Years as column names, over numbers that are no years.
  const years = filled.filter((cell) => /^(?:19|20)\d\d$/.test(cell.trim())).length;
  const below = rest.slice(0, 20).flat();
  const belowYears = below.filter((cell) => /^(?:19|20)\d\d$/.test(cell.trim())).length;
  if (years === values && belowYears * 5 < below.length) return 1;
  return values * 3 > filled.length ? 0 : 1;
}
