import { constants, inflateSync } from 'node:zlib';

/**
 * Character ids are at most 65,535, widths some thousands (ISO 32000-1, 9.7.4.3), keys 256 bits long (ISO 32000-2, 7.6.2), scanned lines some ten
 * thousand dots. A number beyond this is damage.
 */
const LARGEST = 1_000_000;
/** Code points there are: more no range of a character map has to name. */
const LARGEST_RANGE = 0x11_0000;
/** What all ranges of one character map may name together. */
const LARGEST_MAP = 16 * LARGEST_RANGE;
/** Bytes looked at around a key, and behind one that begins an array. */
const AROUND = 4 * 1024;
const MAX_ARRAY = 64 * 1024;
/** Bytes of a stream that tell what it is, and bytes of it that are read when it matters. */
const PROBE = 512;
const MAX_STREAM = 16 * 1024 * 1024;

/**
 * Says which number of a PDF is out of all bounds, or undefined when none is. pdf.js makes loops and arrays of these numbers as they stand, in
 * one go, so that a damaged one fills the memory or takes hours before anything can stop it. Object streams and character maps are looked into; what is
 * encrypted is not.
 */
export function findAbsurdNumber(bytes: Uint8Array): string | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = inObjects(file) ?? inCharacterMap(file);
  if (found !== undefined) return found;
  for (const { text, isMap } of unpackedStreams(file)) {
    const inside = isMap ? inCharacterMap(text) : inObjects(text);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function inObjects(file: Buffer): string | undefined {
  for (const at of places(file, '/W')) {
    const numbers = arrayAt(file.toString('latin1', at + 2, at + 2 + MAX_ARRAY));
    if (isAbove(numbers.match(/\d+/g), LARGEST)) return 'the widths of a font are out of range';
    // Entries of no width: as many as the table says, out of nothing.
    if (/^\s*\[\s*0+\s+0+\s+0+\s*$/.test(numbers) && objectAround(file, at).includes('/XRef'))
      return 'the entries of its cross-reference table have no width';
  }
  for (const at of places(file, '/Standard'))
    if (isAbove(numbersOf(objectAround(file, at), 'Length'), LARGEST)) return 'the length of its key is out of range';
  for (const at of places(file, '/Columns'))
    if (isAbove(numbersOf(file.toString('latin1', at, at + 40), 'Columns'), LARGEST))
      return 'the columns of a stream are out of range';
  return undefined;
}

/** Ranges as `<from> <to> target`, where the target is a code, codes in brackets, or a number. */
const RANGE = /<([\da-f]{1,16})>\s*<([\da-f]{1,16})>\s*(?:<[\da-f\s]*>|\[[^\]]*\]|\d+)/gi;

function inCharacterMap(file: Buffer): string | undefined {
  for (const at of places(file, 'begincmap')) {
    const end = file.indexOf('endcmap', at);
    const map = file.toString('latin1', at, end < 0 ? Math.min(file.length, at + MAX_STREAM) : end);
    let named = 0;
    for (const [, block = ''] of map.matchAll(/begin(?:bf|cid|notdef)range(.*?)end/gs))
      for (const [, from = '', to = ''] of block.matchAll(RANGE)) {
        const size = Number.parseInt(to, 16) - Number.parseInt(from, 16);
        named += Math.max(0, size);
        if (size > LARGEST_RANGE || named > LARGEST_MAP) return 'the ranges of a character map are out of range';
      }
  }
  return undefined;
}

function* places(file: Buffer, key: string): Generator<number> {
  for (let at = file.indexOf(key); at >= 0; at = file.indexOf(key, at + key.length)) yield at;
}

function isAbove(numbers: readonly string[] | null, bound: number): boolean {
  return numbers?.some((number) => Number(number) > bound) ?? false;
}

function numbersOf(text: string, key: string): string[] {
  return [...text.matchAll(new RegExp(`/${key}\\s+(\\d+)`, 'g'))].map((match) => match[1] ?? '');
}

/** The object or trailer that a place lies in, as far as it is near. */
function objectAround(file: Buffer, at: number): string {
  const text = file.toString('latin1', Math.max(0, at - AROUND), at + AROUND);
  const here = Math.min(at, AROUND);
  const end = text.slice(here).search(/endobj|stream|startxref/);
  return text.slice(text.lastIndexOf('obj', here) + 3, end < 0 ? text.length : here + end);
}

/** The array that a text begins with, inner ones included; '' when it begins with none. */
function arrayAt(text: string): string {
  const start = /^\s*\[/.exec(text)?.[0].length ?? 0;
  if (start === 0) return '';
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '[') depth++;
    else if (char === ']' && --depth === 0) return text.slice(0, at);
    // What no array of numbers holds: it is damaged, and ends here.
    else if (char === '>' || char === '/') return text.slice(0, at);
  }
  return text;
}

/** Object streams and character maps, unpacked. */
function* unpackedStreams(file: Buffer): Generator<{ text: Buffer; isMap: boolean }> {
  for (const at of places(file, 'stream')) {
    const start = file[at + 6] === 0x0d && file[at + 7] === 0x0a ? at + 8 : at + 7;
    // 0x78 begins what Flate has packed.
    if (file[start] !== 0x78) continue;
    const isObjects = objectAround(file, at - 1).includes('/ObjStm');
    if (isObjects) yield { text: inflateAt(file, start, MAX_STREAM), isMap: false };
    else if (inflateAt(file, start, PROBE).includes('begincmap')) yield { text: inflateAt(file, start, MAX_STREAM), isMap: true };
  }
}

/** What a stream that begins here holds, at most so many of its packed bytes; what is damaged gives nothing. */
function inflateAt(file: Buffer, start: number, packed: number): Buffer {
  try {
    return inflateSync(file.subarray(start, start + packed), {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_STREAM,
    });
  } catch {
    return Buffer.alloc(0);
  }
}
