import { defaultParseLimits } from '../settings.js';
import { openZip } from './zip-archive.js';

const MAIN_PARTS = [
  ['word/document', 'docx'],
  ['ppt/presentation', 'pptx'],
  ['xl/workbook.xml', 'xlsx'],
] as const;

/**
 * What a zip archive is, by the names of its parts. A damaged archive without directory is told by the names that stand before the
 * data of its entries, so that its parser can say what is wrong with it.
 */
export function zipFormat(bytes: Uint8Array): string | undefined {
  const names = namesOf(bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (part: string): boolean =>
    names === undefined ? buffer.includes(part) : names.some((name) => name.startsWith(part));
  if (!has('[Content_Types].xml')) return undefined;
  return MAIN_PARTS.find(([part]) => has(part))?.[1];
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
