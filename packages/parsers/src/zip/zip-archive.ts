import { createInflateRaw } from 'node:zlib';
import { type ParseLimits, SluiceError } from '@sluice/core';
import { decodeLabelled } from '../encoding/decode-bytes.js';
import { guessEncoding } from '../encoding/guess-encoding.js';
import { decodeUtf8 } from '../encoding/unicode.js';

interface ZipEntry {
  name: string;
  method: number;
  compressedSize: number;
  size: number;
  /** Of the local header. */
  offset: number;
  encrypted: boolean;
}

/** The entries of a zip archive in memory. Names are keys only: nothing is ever written to a path. */
export interface ZipArchive {
  readonly names: readonly string[];
  has(name: string): boolean;
  /** The unpacked content in pieces, within the limits; undefined when there is no such entry. */
  open(name: string): AsyncGenerator<Uint8Array> | undefined;
}

const END_RECORD = 0x06054b50;
const END_RECORD_64 = 0x06064b50;
const END_LOCATOR_64 = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const MAX_COMMENT = 0xffff;

/** Small archives may unpack to this much whatever their ratio. */
const FREE_BYTES = 16 * 1024 * 1024;

/**
 * Reads the directory of a zip archive (APPNOTE 6.3, with the 64-bit records) and checks it against the limits.
 *
 * @throws SluiceError `corrupt`, `limit_exceeded` (too many entries, or a size out of proportion)
 */
export function openZip(bytes: Uint8Array, limits: ParseLimits): ZipArchive {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(view, limits);
  const total = [...entries.values()].reduce((sum, entry) => sum + entry.size, 0);
  if (total > FREE_BYTES && total > bytes.length * limits.archiveRatio) throw bomb(limits);
  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    open(name) {
      const entry = entries.get(name);
      return entry === undefined ? undefined : unpack(view, entry, limits);
    },
  };
}

function bomb(limits: ParseLimits): SluiceError {
  return new SluiceError(
    'limit_exceeded',
    `the archive unpacks to more than limits.archive_ratio allows (${limits.archiveRatio} times)`,
  );
}

const damaged = (what: string): SluiceError => new SluiceError('corrupt', `the archive is damaged: ${what}`);

function readDirectory(view: DataView, limits: ParseLimits): Map<string, ZipEntry> {
  const { count, offset } = findDirectory(view);
  if (count > limits.archiveEntries)
    throw new SluiceError(
      'limit_exceeded',
      `the archive has ${count} entries; limits.archive_entries allows ${limits.archiveEntries}`,
    );
  const entries = new Map<string, ZipEntry>();
  let at = offset;
  for (let index = 0; index < count; index++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== DIRECTORY_ENTRY) throw damaged('its directory is cut off');
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const end = at + 46 + nameLength + extraLength + view.getUint16(at + 32, true);
    if (end > view.byteLength) throw damaged('its directory is cut off');
    const name = nameOf(new Uint8Array(view.buffer, view.byteOffset + at + 46, nameLength));
    const entry: ZipEntry = {
      name,
      encrypted: (view.getUint16(at + 8, true) & 1) !== 0,
      method: view.getUint16(at + 10, true),
      compressedSize: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    };
    readSizes64(view, at + 46 + nameLength, extraLength, entry);
    // Some programs write backslashes.
    entries.set(name.replaceAll('\\', '/'), entry);
    at = end;
  }
  return entries;
}

/** Names are UTF-8, whatever the flags say, or else in the code page of the system that packed them. */
function nameOf(bytes: Uint8Array): string {
  return decodeUtf8(bytes).text ?? guessEncoding(bytes)?.text ?? decodeLabelled(bytes, 'cp437') ?? '';
}

function findDirectory(view: DataView): { count: number; offset: number } {
  const lowest = Math.max(0, view.byteLength - 22 - MAX_COMMENT);
  for (let at = view.byteLength - 22; at >= lowest; at--) {
    if (view.getUint32(at, true) !== END_RECORD) continue;
    const plain = { count: view.getUint16(at + 10, true), offset: view.getUint32(at + 16, true) };
    if (at < 20 || view.getUint32(at - 20, true) !== END_LOCATOR_64) return plain;
    const record = Number(view.getBigUint64(at - 12, true));
    if (record + 56 > view.byteLength || view.getUint32(record, true) !== END_RECORD_64) return plain;
    return { count: Number(view.getBigUint64(record + 32, true)), offset: Number(view.getBigUint64(record + 48, true)) };
  }
  throw damaged('it has no directory');
}

/** Replaces sizes that did not fit into 32 bits by those of the extra field 1. */
function readSizes64(view: DataView, start: number, length: number, entry: ZipEntry): void {
  let at = start;
  while (at + 4 <= start + length) {
    const size = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) {
      let field = at + 4;
      const end = Math.min(field + size, start + length);
      for (const key of ['size', 'compressedSize', 'offset'] as const) {
        if (entry[key] !== 0xffffffff || field + 8 > end) continue;
        entry[key] = Number(view.getBigUint64(field, true));
        field += 8;
      }
    }
    at += 4 + size;
  }
}

async function* unpack(view: DataView, entry: ZipEntry, limits: ParseLimits): AsyncGenerator<Uint8Array> {
  if (entry.encrypted) throw new SluiceError('password_required', 'the archive is encrypted; Sluice reads no encrypted archives');
  const { offset } = entry;
  if (offset + 30 > view.byteLength || view.getUint32(offset, true) !== LOCAL_HEADER) throw damaged(`${entry.name} is missing`);
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + entry.compressedSize > view.byteLength) throw damaged(`${entry.name} is cut off`);
  const data = new Uint8Array(view.buffer, view.byteOffset + start, entry.compressedSize);
  if (entry.method === 0) {
    yield data;
    return;
  }
  if (entry.method !== 8) throw damaged(`${entry.name} is packed in an unknown way`);
  // What the directory says of sizes may be a lie: what comes out is counted.
  const most = Math.max(FREE_BYTES, entry.compressedSize * limits.archiveRatio);
  let unpacked = 0;
  const inflater = createInflateRaw();
  inflater.end(data);
  try {
    for await (const piece of inflater as AsyncIterable<Uint8Array>) {
      unpacked += piece.length;
      if (unpacked > most) throw bomb(limits);
      yield piece;
    }
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError('corrupt', `the archive is damaged: ${entry.name} can't be unpacked`, { cause: error });
  }
}

/** The unpacked content of an entry as one piece; undefined when there is no such entry. */
export async function readEntry(archive: ZipArchive, name: string): Promise<Uint8Array | undefined> {
  const pieces = archive.open(name);
  if (pieces === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) chunks.push(piece);
  return new Uint8Array(Buffer.concat(chunks));
}
