/** A line of a text with its place. */
export interface MarkupLine {
  text: string;
  start: number;
  /** Without the line break. */
  end: number;
  blank: boolean;
  /** White space before it. */
  indent: number;
}

export function markupLines(text: string): MarkupLine[] {
  const lines: MarkupLine[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, end);
    const indent = line.search(/\S/);
    lines.push({ text: line, start, end, blank: indent < 0, indent: Math.max(0, indent) });
    start = end + 1;
  }
  return lines;
}
