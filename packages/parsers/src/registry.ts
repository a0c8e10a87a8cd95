import { type ParsedDocument, type ParseInput, SluiceError, toSluiceError } from '@sluice/core';
import { refuseUnreadAccess } from '@sluice/metadata';
import { describeUnsupported, detectFormat } from './detect.js';
import type { FormatEntry, FormatInfo } from './format-entry.js';
import { FORMATS } from './formats.js';

export interface ParserRegistry {
  readonly formats: readonly FormatInfo[];
  /** All formats with their versions in one text, as `csv:1 docx:1`. */
  readonly version: string;
  /** The format's version, or 0 for an unknown one. */
  versionOf(format: string): number;
  /** The format of a file by its content, then by its name; undefined when none reads it. The first 64 KB are enough. */
  detect(bytes: Uint8Array, name: string): string | undefined;
  /**
   * Parses a file within the limits. Scanned and blank documents have no elements and text ''.
   *
   * @throws SluiceError `unsupported_type`, `too_large`, `corrupt`, `password_required`, `encoding_unknown`, `limit_exceeded`,
   *   `invalid_metadata` (front matter), `parse_timeout` when the signal aborts
   */
  parse(input: ParseInput): Promise<ParsedDocument>;
}

/** All formats of the product. A registry holds no state besides the parsers it has loaded. */
export function createParserRegistry(formats: readonly FormatEntry[] = FORMATS): ParserRegistry {
  const byName = new Map(formats.map((entry) => [entry.format, entry]));
  const registry: ParserRegistry = {
    formats: formats.map(({ load: _load, ...info }) => info),
    version: formats.map(({ format, version }) => `${format}:${version}`).join(' '),
    versionOf: (format) => byName.get(format)?.version ?? 0,
    detect: (bytes, name) => detectFormat(bytes, name, formats),
    async parse(input) {
      if (input.bytes.length > input.limits.fileBytes)
        throw new SluiceError(
          'too_large',
          `${input.name} is larger than limits.file_mb allows; raise the limit or split the file`,
        );
      const format = detectFormat(input.bytes, input.name, formats);
      const entry = format === undefined ? undefined : byName.get(format);
      if (entry === undefined) throw new SluiceError('unsupported_type', await describeUnsupported(input.bytes, input.name));
      if (input.bytes.length === 0) return blank(entry);
      await refuseUnreadAccess(input.name, (length) => input.bytes.subarray(0, length));
      try {
        const parse = await entry.load(registry);
        return await parse(input);
      } catch (thrown) {
        throw asParseError(thrown, input);
      }
    },
  };
  return registry;
}

/** Archives and the like have bytes, however little they hold. */
function blank({ format, neverEmpty, parts }: FormatEntry): ParsedDocument {
  const unfinished = neverEmpty === true || parts !== undefined;
  return { text: '', elements: [], metadata: {}, warnings: [], format, ...(unfinished ? { unfinished } : {}) };
}

/** What a library throws on bad input means the file is damaged; programming errors look alike, so the cause is kept. */
function asParseError(thrown: unknown, input: ParseInput): SluiceError {
  if (input.signal?.aborted) return toSluiceError(thrown, 'parse_timeout');
  if (thrown instanceof RangeError && /call stack|string length|array length/i.test(thrown.message))
    return new SluiceError('limit_exceeded', `${input.name} is too deeply nested or too long to be read`, { cause: thrown });
  return toSluiceError(thrown, 'corrupt');
}
