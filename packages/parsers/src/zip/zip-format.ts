import type { FormatEntry } from '../format-entry.js';
import { defaultParseLimits } from '../settings.js';
import { openZip } from './zip-archive.js';

/**
 * What a zip archive is, by the names of its parts. A damaged archive without directory is recognised by the names that stand before
 * the data of its entries, so that its parser can say what is wrong with it.
 */
export function zipFormat(bytes: Uint8Array, formats: readonly FormatEntry[]): string | undefined {
  const names = namesOf(bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (part: string): boolean =>
    names === undefined ? buffer.includes(part) : names.some((name) => name.startsWith(part));
  return formats.find((entry) => entry.parts?.every(has))?.format;
}

/** False when the archive is cut off or damaged, so that its entries can't be listed. */
export function hasZipDirectory(bytes: Uint8Array): boolean {
  return namesOf(bytes) !== undefined;
}

function namesOf(bytes: Uint8Array): readonly string[] | undefined {
  try {
    return openZip(bytes, { ...defaultParseLimits, archiveRatio: Number.POSITIVE_INFINITY }).names;
  } catch {
    return undefined;
  }
}
