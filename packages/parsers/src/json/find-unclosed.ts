/**
 * Where the bracket, quote or comment opens that is still open at the end of a text; undefined when none is. Tells a file that is cut off
 * from one that is no strict JSON: comments and single quotes are known, and a quote without its partner in its line is taken for a sign.
 */
export function findUnclosed(text: string): number | undefined {
  const open: number[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at++) {
    const char = text.charAt(at);
    if (char === '{' || char === '[') open.push(at);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"' || char === "'") {
      const close = closingQuote(text, at, char);
      if (close !== undefined) at = close;
      else if (char === '"' && isLastLine(text, at, end)) return at;
    } else if (text.startsWith('//', at)) at = (text.indexOf('\n', at) + 1 || end) - 1;
    else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2);
      if (close < 0) return at;
      at = close + 1;
    }
  }
  return open.at(-1);
}

function isLastLine(text: string, at: number, end: number): boolean {
  const newline = text.indexOf('\n', at);
  return newline < 0 || newline >= end;
}

/** Where a string of one line ends. Read by hand: strings may be longer than what a regular expression can go back over. */
function closingQuote(text: string, start: number, quote: string): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === quote) return at;
    if (char === '\n') return undefined;
    if (char === '\\') at++;
  }
  return undefined;
}

/** The number of the line that a place lies in, from 1. */
export function lineOf(text: string, at: number): number {
  let line = 1;
  for (let newline = text.indexOf('\n'); newline >= 0 && newline < at; newline = text.indexOf('\n', newline + 1)) line++;
  return line;
}
