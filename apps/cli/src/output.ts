/** Where a command speaks. With `--json` stdout holds one JSON value and nothing else. */
export interface Output {
  readonly json: boolean;
  /** For people; nothing with --json. */
  line(text: string): void;
  /** The answer for programs; nothing without --json. */
  value(value: unknown): void;
  /** Progress and warnings, to stderr. */
  note(text: string): void;
  /** A line that is overwritten by the next, where stderr is a terminal. */
  progress(text: string): void;
}

export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

export function createOutput(streams: Streams, json: boolean): Output {
  let open = false;
  const finish = () => {
    if (open) streams.stderr.write('\r\u001b[K');
    open = false;
  };
  return {
    json,
    line(text) {
      finish();
      if (!json) streams.stdout.write(`${text}\n`);
    },
    value(value) {
      finish();
      if (json) streams.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note(text) {
      finish();
      streams.stderr.write(`${text}\n`);
    },
    progress(text) {
      if (streams.stderr.isTTY !== true) return;
      streams.stderr.write(`\r\u001b[K${text}`);
      open = true;
    },
  };
}

/** Text from file names and documents, for one line of a terminal: control characters are shown, not sent. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Rows in columns, each as wide as its widest cell. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows
    .map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '))
    .join('\n');
}
