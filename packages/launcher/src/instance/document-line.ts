/** What the worker logs when it is done with a file: message `document`. */
interface DocumentLog {
  doc_id: string;
  status: string;
  chunks?: number;
  seconds?: number;
  reason?: string;
  message?: string;
}

/** The terminal's line for a file that was worked on, from a line of the worker's log; undefined for any other line. */
export function documentLine(line: string): string | undefined {
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
