/** What the worker logs when it is done with a file: message `document`. */
interface DocumentLog {
  doc_id: string;
  status: string;
  chunks?: number;
  seconds?: number;
  reason?: string;
  message?: string;
}

/** Text that comes from file names, on one line of a terminal: control characters are shown, not sent. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The terminal's line for a file that was worked on, or for a root that was lost or came back, from a line of a log; else undefined. */
export function documentLine(line: string): string | undefined {
  const found = lineOf(line);
  return found === undefined ? undefined : printable(found);
}

function lineOf(line: string): string | undefined {
  if (line.includes('"root_state":')) return rootLine(line);
  // Most lines are of another kind: parse only those that may be it.
  if (!line.includes('"msg":"document"')) return undefined;
  let entry: DocumentLog;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || !('doc_id' in value) || typeof value.doc_id !== 'string') return undefined;
    // Shape of our own worker's log line; fields that are missing are left out below.
    entry = value as DocumentLog;
  } catch {
    return undefined;
  }
  const { doc_id, status } = entry;
  const seconds = entry.seconds === undefined ? '' : `, ${entry.seconds.toFixed(1)} s`;
  if (status === 'indexed') return `${doc_id} indexed, ${entry.chunks ?? 0} chunks${seconds}`;
  if (status === 'failed' || status === 'skipped') {
    const message = entry.message === undefined || entry.message === '' ? '' : `: ${entry.message}`;
    return `${doc_id} ${status}: ${entry.reason ?? 'internal'}${message}`;
  }
  return `${doc_id} ${status}`;
}

function rootLine(line: string): string | undefined {
  try {
    const { source, msg } = JSON.parse(line) as { source?: unknown; msg?: unknown };
    return typeof msg === 'string' ? `source ${String(source)}: ${msg}` : undefined;
  } catch {
    return undefined;
  }
}
