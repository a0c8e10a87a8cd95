const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Lines by which the delimiter is judged. */
const LINES = 50;

/** The delimiter that parts the first lines into the most even number of columns. Tabs come first for `.tsv`. */
export function findDelimiter(text: string, name: string): string {
  const preferred = /\.(?:tsv|tab)$/i.test(name) ? '\t' : ',';
  const lines = withoutQuoted(text.slice(0, 64 * 1024))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, LINES);
  let best: { delimiter: string; score: number } = { delimiter: preferred, score: 0 };
  for (const delimiter of [preferred, ...DELIMITERS.filter((candidate) => candidate !== preferred)]) {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const usual = mostFrequent(counts.filter((count) => count > 0));
    if (usual === undefined) continue;
    const score = counts.filter((count) => count === usual).length / lines.length + Math.min(usual, 10) / 1000;
    if (score > best.score + 0.05) best = { delimiter, score };
    // The commas of decimal numbers are as even as those that part columns, but the header has none.
    else if (delimiter !== best.delimiter && (counts[0] ?? 0) === usual && !(lines[0] ?? '').includes(best.delimiter))
      best = { delimiter, score };
  }
  return best.delimiter;
}

function withoutQuoted(text: string): string {
  return text.replace(/"[^"]*"/g, '""');
}

function mostFrequent(values: readonly number[]): number | undefined {
  const times = new Map<number, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0];
}
