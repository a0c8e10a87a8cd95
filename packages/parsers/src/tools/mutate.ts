import { writeZip } from '../bench/zip-writer.js';
import { defaultParseLimits } from '../settings.js';
import { openZip } from '../zip/zip-archive.js';

/** Numbers in 0..1; the same seed gives the same row (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TOKENS = [
  '\0',
  '\ud800',
  '<',
  '>',
  '</',
  '<!--',
  '"',
  "'",
  '&#x0;',
  '&amp;',
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  '|',
  '\r',
  '\n\n',
  '%PDF-',
  'endobj',
  'stream',
  '99999999999',
  '-1',
  '../',
  '--OUT',
  '=?UTF-8?B?',
  'w:p',
  'xml:space',
  '\u202e',
  '\ufeff',
];

/** A damaged copy: cut off, bits flipped, stretches left out, doubled, moved or overwritten, tokens put in. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  let result: Buffer = Buffer.from(bytes);
  const rounds = 1 + Math.floor(random() * 4);
  for (let round = 0; round < rounds; round++) result = mutateOnce(result, random);
  return new Uint8Array(result);
}

function mutateOnce(bytes: Buffer, random: Random): Buffer {
  const at = (): number => Math.floor(random() * Math.max(1, bytes.length));
  const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
  switch (Math.floor(random() * 8)) {
    case 0:
      return bytes.subarray(0, at());
    case 1: {
      const flipped = Buffer.from(bytes);
      for (let count = 1 + Math.floor(random() * 12); count > 0; count--) {
        const place = Math.floor(random() * Math.max(1, flipped.length));
        flipped[place] = (flipped[place] ?? 0) ^ (1 << Math.floor(random() * 8));
      }
      return flipped;
    }
    case 2:
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(Math.min(to, from + 200))]);
    case 3:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from, Math.min(to, from + 20_000)), bytes.subarray(to)]);
    case 4: {
      const token = Buffer.from(TOKENS[Math.floor(random() * TOKENS.length)] ?? '');
      const times = random() < 0.2 ? 2_000 : 1;
      return Buffer.concat([bytes.subarray(0, from), ...Array.from({ length: times }, () => token), bytes.subarray(from)]);
    }
    case 5:
      return Buffer.concat([
        bytes.subarray(0, from),
        Buffer.alloc(Math.min(64, to - from), Math.floor(random() * 256)),
        bytes.subarray(from),
      ]);
    case 6: {
      const text = bytes
        .toString('latin1')
        .replace(/\d+/g, (digits) => (random() < 0.05 ? String(Math.floor(random() * 1e10)) : digits));
      return Buffer.from(text, 'latin1');
    }
    default:
      return Buffer.concat([bytes.subarray(to), bytes.subarray(0, to)]);
  }
}

/** Damages parts of an office file and packs it again, so that the damage gets past the archive's own checks. */
export async function mutateParts(bytes: Uint8Array, random: Random): Promise<Uint8Array> {
  const archive = openZip(bytes, defaultParseLimits);
  const entries: Record<string, Uint8Array> = {};
  for (const name of archive.names) {
    const pieces: Uint8Array[] = [];
    for await (const piece of archive.open(name) ?? []) pieces.push(piece);
    const content = Buffer.concat(pieces);
    entries[name] = random() < 0.4 ? mutate(content, random) : content;
  }
  if (random() < 0.2) delete entries[archive.names[Math.floor(random() * archive.names.length)] ?? ''];
  return writeZip(entries);
}
