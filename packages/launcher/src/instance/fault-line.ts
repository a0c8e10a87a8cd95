/** What a line of a process' output says of a fault, in a few words; undefined for any other line. */
export function faultLine(line: string): string | undefined {
  if (!line.startsWith('{')) return /^(\w*Error\b|fatal)/i.test(line) ? shorten(line) : undefined;
  if (!/"level":(50|60)\b/.test(line)) return undefined;
  try {
    // A line of pino's: each member may be missing.
    const { msg, err, cause } = JSON.parse(line) as { msg?: string; err?: { message?: string }; cause?: unknown };
    const why = err?.message ?? (typeof cause === 'string' ? cause : undefined);
    return shorten([msg, why].filter((part) => part !== undefined && part !== '').join(': '));
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  return text.length > 400 ? `${text.slice(0, 399)}…` : text;
}
