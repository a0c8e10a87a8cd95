/** Where a command speaks. With `--json` stdout holds one JSON value and nothing else. */
export interface Output {
  readonly json: boolean;
  /** For people; nothing with --json. */
  line(text: string): void;
  /** A piece of text for people as it comes, no line of its own; nothing with --json. */
  piece(text: string): void;
  /** The answer for programs, of which the first alone counts; nothing without --json. */
  value(value: unknown): void;
  /** True once stdout has its JSON value. */
  hasValue(): boolean;
  /** Progress and warnings, to stderr. */
  note(text: string): void;
  /** A line that is overwritten by the next, where stderr is a terminal. */
  progress(text: string): void;
  /** The same as a bar. */
  bar(done: number, total: number, what: string): void;
}

export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Width of a progress bar. */
const BAR = 30;

export function createOutput(streams: Streams, json: boolean): Output {
  let open = false;
  let told = false;
  const finish = () => {
    if (open) streams.stderr.write('\r\u001b[K');
    open = false;
  };
  const progress = (text: string) => {
    if (streams.stderr.isTTY !== true) return;
    streams.stderr.write(`\r\u001b[K${text}`);
    open = true;
  };
  return {
    json,
    line(text) {
      finish();
      if (!json) streams.stdout.write(`${withoutControls(text)}\n`);
    },
    piece(text) {
      finish();
      if (!json) streams.stdout.write(withoutControls(text));
    },
    value(value) {
      finish();
      if (!json || told) return;
      told = true;
      streams.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    hasValue: () => told,
    note(text) {
      finish();
      streams.stderr.write(`${withoutControls(text)}\n`);
    },
    progress,
    bar(done, total, what) {
      const filled = total === 0 ? BAR : Math.round((BAR * done) / total);
      progress(`[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${done} of ${total} ${what}`);
    },
  };
}

/** File names and documents may hold what a terminal takes for commands: but line breaks and tabs it is shown, not sent. */
function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, shown);
}

/** The same for one cell of a table, which is one line. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, shown);
}

function shown(sign: string): string {
  return `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`;
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
