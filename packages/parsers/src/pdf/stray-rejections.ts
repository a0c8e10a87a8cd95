/** Faults of a damaged file that pdf.js recovers from, by name. */
const RECOVERED = new Set([
  'XRefEntryException',
  'XRefParseException',
  'MissingDataException',
  'ParserEOFException',
  'FormatError',
  'AbortException',
]);

/**
 * While pdf.js repairs a damaged file it rejects promises that nobody waits for any more, which would end the process although the file
 * can be read. They are let go for as long as a file is open; a rejection of anything else ends the process as ever.
 *
 * @returns stops listening
 */
export function ignoreStrayRejections(): () => void {
  const onRejection = (reason: unknown): void => {
    if (!(reason instanceof Error) || !RECOVERED.has(reason.name)) throw reason;
  };
  process.on('unhandledRejection', onRejection);
  return () => process.off('unhandledRejection', onRejection);
}
