import { SluiceError } from '@sluice/core';

const FREE = 0xfffffffa;
const NAMES_END = 128;

const damaged = (): SluiceError => new SluiceError('corrupt', 'the compound file is damaged');

/** Reads a stream of a compound file by name ([MS-CFB]); undefined when there is none. */
export function readStream(bytes: Uint8Array, name: string): Uint8Array | undefined {
  if (bytes.length < 512) throw damaged();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sectorSize = 1 << view.getUint16(30, true);
  const miniSize = 1 << view.getUint16(32, true);
  if (sectorSize < 512 || sectorSize > 65_536 || miniSize < 16 || miniSize > sectorSize) throw damaged();
  const maxSectors = Math.ceil(bytes.length / sectorSize);
  const sector = (index: number): Uint8Array => {
    const start = (index + 1) * sectorSize;
    if (start >= bytes.length) throw damaged();
    return bytes.subarray(start, start + sectorSize);
  };
  const chain = (first: number, table: readonly number[], limit: number): number[] => {
    const indices: number[] = [];
    for (let at = first; at < FREE; at = table[at] ?? FREE) {
      indices.push(at);
      if (indices.length > limit) throw damaged();
    }
    return indices;
  };
  const words = (data: Uint8Array): number[] => {
    const of = new DataView(data.buffer, data.byteOffset, data.byteLength);
    return Array.from({ length: Math.floor(data.length / 4) }, (_, index) => of.getUint32(index * 4, true));
  };
  const join = (parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

  const difat = words(bytes.subarray(76, 512));
  for (let next = view.getUint32(68, true), count = 0; next < FREE && count <= maxSectors; count++) {
    const more = words(sector(next));
    next = more.pop() ?? FREE;
    difat.push(...more);
  }
  const fat = difat.filter((index) => index < FREE).flatMap((index) => words(sector(index)));
  const read = (first: number): Uint8Array => join(chain(first, fat, maxSectors).map(sector));

  const directory = read(view.getUint32(48, true));
  const entries = Array.from({ length: Math.floor(directory.length / NAMES_END) }, (_, index) => {
    const entry = directory.subarray(index * NAMES_END, (index + 1) * NAMES_END);
    const of = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
    const length = Math.min(64, Math.max(2, of.getUint16(64, true))) - 2;
    return {
      name: Buffer.from(entry.subarray(0, length)).toString('utf16le'),
      first: of.getUint32(116, true),
      size: of.getUint32(120, true),
    };
  });
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) return undefined;
  if (entry.size >= view.getUint32(56, true)) return read(entry.first).subarray(0, entry.size);
  const miniFat = words(read(view.getUint32(60, true)));
  const miniStream = read(entries[0]?.first ?? FREE);
  const minis = chain(entry.first, miniFat, Math.ceil(miniStream.length / miniSize));
  return join(minis.map((index) => miniStream.subarray(index * miniSize, (index + 1) * miniSize))).subarray(0, entry.size);
}
