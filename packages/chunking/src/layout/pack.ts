import { hashRange } from '../text/hash.js';
import { type Atom, QUALITY, UNITS_PER_TOKEN } from './atoms.js';

/** A stretch of the text that becomes a chunk. */
export interface Span {
  start: number;
  end: number;
  /** Where the text begins that the chunk before does not hold. */
  fresh: number;
  /** By the atoms, in the unit of the settings, without overhead. */
  size: number;
  /** The first of its run: what continues carries a repeated header or the like. */
  first: boolean;
}

export interface PackOptions {
  text: string;
  unit: 'tokens' | 'chars';
  /** Room for the first chunk of a run, and for those that continue it: max less what is embedded besides. */
  roomFirst: number;
  roomNext: number;
  /** How much of a chunk's end the next one repeats; 0 for none. */
  overlap: number;
  /** Where a chunk that repeats at most `most` of start..end begins, and the size of that stretch. Undefined: repeat nothing. */
  overlapStart?: (start: number, end: number, most: number) => { start: number; size: number } | undefined;
  /** In place of chance: the better of two cuts of one quality is the one of the lower rank, as the depth of a break in meaning. */
  rank?: (atom: Atom) => number;
}

/**
 * Chunks below this share of the room are avoided. A third leaves two choices whatever the size of the paragraphs, so that chunk
 * borders find each other again after an edit.
 */
const LEAST_SHARE = 1 / 3;
/** Among words any cut is as good as another: chunks are nearly full. */
const WORD_SHARE = 3 / 4;
/** Units of an atom's beginning that its rank is made from: an edit further in leaves the rank alone. */
const RANK_UNITS = 48;

interface Placed extends Atom {
  /** Tokens of all atoms before it. */
  sum: number;
}

/**
 * Packs atoms into chunks, each no larger than its room (unless one atom is). Where a chunk ends depends on the text near by alone:
 * among the best cuts within reach the one whose following text has the lowest hash is taken, fuller chunks preferred. So an edit
 * moves the borders next to it, and those further on stay (content-defined chunking, as rsync and LBFS do with bytes). Memory is
 * that of a few chunks.
 */
export function* packAtoms(atoms: Iterable<Atom>, options: PackOptions): Generator<Span> {
  const source = atoms[Symbol.iterator]();
  const window = createWindow(source, options);
  let overlap = { start: 0, size: 0 };
  let first = true;
  while (window.fill(Math.max(options.roomFirst, options.roomNext))) {
    const room = first ? options.roomFirst : options.roomNext;
    let start = window.at(0).start;
    let repeated = 0;
    if (!first && overlap.size > 0) ({ start, size: repeated } = fitOverlap(overlap, window, room, options));
    const count = chooseCut(window, room, start, repeated, options);
    const end = window.at(count - 1).end;
    yield { start, end, fresh: window.at(0).start, size: window.size(0, count, start, repeated), first };
    window.drop(count);
    first = false;
    overlap = options.overlap > 0 ? (options.overlapStart?.(start, end, options.overlap) ?? NONE) : NONE;
  }
}

const NONE = { start: 0, size: 0 };

type Window = ReturnType<typeof createWindow>;

/** The atoms that the next chunk is made from, and as many behind them: read from the source as needed. */
function createWindow(source: Iterator<Atom>, { unit }: PackOptions) {
  let atoms: Placed[] = [];
  let head = 0;
  let sum = 0;
  let done = false;

  function at(index: number): Placed {
    const atom = atoms[head + index];
    if (atom === undefined) throw new RangeError(`no atom ${index} in the window`);
    return atom;
  }

  function unitsHeld(): number {
    return at(atoms.length - head - 1).end - at(0).start;
  }

  return {
    at,
    get length() {
      return atoms.length - head;
    },
    /** True when the window ends where the text does. */
    get complete() {
      return done;
    },
    /** Reads on until what is held is more than two chunks. False when nothing is left. */
    fill(room: number): boolean {
      if (head > 512) {
        atoms = atoms.slice(head);
        head = 0;
      }
      while (
        !done &&
        (atoms.length - head < 2 ||
          (size(0, atoms.length - head, at(0).start, 0) <= 2 * room && unitsHeld() <= 2 * room * UNITS_PER_TOKEN))
      ) {
        const next = source.next();
        if (next.done === true) {
          done = true;
          break;
        }
        atoms.push({ ...next.value, sum });
        sum += next.value.tokens;
      }
      return atoms.length > head;
    },
    drop(count: number): void {
      head += count;
    },
    size,
  };

  /** Size of the atoms from..to (exclusive) of a chunk that begins at `start`, `repeated` of it overlap. */
  function size(from: number, to: number, start: number, repeated: number): number {
    const last = at(to - 1);
    return unit === 'chars' ? last.end - start : repeated + last.sum + last.tokens - at(from).sum;
  }
}

/** Shortens the overlap until at least one new atom fits behind it. */
function fitOverlap(overlap: { start: number; size: number }, window: Window, room: number, options: PackOptions) {
  const none = { start: window.at(0).start, size: 0 };
  let { start, size } = overlap;
  const { end } = window.at(0);
  if (window.size(0, 1, start, size) <= room) return { start, size };
  const own = window.size(0, 1, none.start, 0);
  const shorter = options.overlapStart?.(start, none.start, room - own);
  if (shorter === undefined || shorter.start >= end) return none;
  ({ start, size } = shorter);
  return window.size(0, 1, start, size) <= room ? { start, size } : none;
}

/** How many atoms the next chunk takes. */
function chooseCut(window: Window, room: number, start: number, repeated: number, options: PackOptions): number {
  const sizeOf = (count: number) => window.size(0, count, start, repeated);
  const mostUnits = options.unit === 'chars' ? room : room * UNITS_PER_TOKEN;
  const unitsOf = (count: number) => window.at(count - 1).end - start;
  let most = 1;
  while (most < window.length && sizeOf(most + 1) <= room && unitsOf(most + 1) <= mostUnits) most++;
  if (most === window.length && window.complete) return most;

  let best = qualityAmong(window, most, (count) => sizeOf(count) >= room * LEAST_SHARE);
  let least = LEAST_SHARE;
  if (best === undefined || best === QUALITY.glued) {
    // Nothing good leaves a chunk of some size: the last cut that parts nothing, however small, or the best of a bad lot.
    best = qualityAmong(window, most, () => true) ?? QUALITY.glued;
    least = 0;
  }
  if (best <= QUALITY.grapheme || least === 0) return lastOf(window, most, best);
  if (best < QUALITY.clause) least = WORD_SHARE;
  return pickCut(window, most, best, room, sizeOf, least, options) ?? lastOf(window, most, best);
}

function qualityAmong(window: Window, most: number, allowed: (count: number) => boolean): number | undefined {
  let best: number | undefined;
  for (let count = most; count >= 1 && allowed(count); count--) {
    const quality = count < window.length ? window.at(count).before : QUALITY.block;
    if (best === undefined || quality > best) best = quality;
  }
  return best;
}

function lastOf(window: Window, most: number, quality: number): number {
  for (let count = most; count > 1; count--) {
    if (count >= window.length || window.at(count).before >= quality) return count;
  }
  return most;
}

function pickCut(
  window: Window,
  most: number,
  quality: number,
  room: number,
  sizeOf: (count: number) => number,
  least: number,
  options: PackOptions,
): number | undefined {
  const goodEnd = nextBetter(window, most, quality, room, sizeOf);
  let picked: number | undefined;
  let pickedScore = Number.POSITIVE_INFINITY;
  let pickedOrphan = true;
  for (let count = most; count >= 1; count--) {
    const size = sizeOf(count);
    if (size < room * least) break;
    const next = window.at(count);
    if (next.before < quality) continue;
    const orphan = goodEnd !== undefined && goodEnd - size < room * LEAST_SHARE * 0.75;
    const score = options.rank?.(next) ?? rankOf(options.text, next) / (size / room);
    if (picked === undefined || (pickedOrphan && !orphan) || (pickedOrphan === orphan && score < pickedScore)) {
      picked = count;
      pickedScore = score;
      pickedOrphan = orphan;
    }
  }
  return picked;
}

/** Size up to the first cut behind this chunk that is better than `quality`, or to the text's end: what lies before it should not be tiny. */
function nextBetter(window: Window, most: number, quality: number, room: number, sizeOf: (count: number) => number) {
  for (let count = most + 1; count <= window.length; count++) {
    const ends = count === window.length ? window.complete : window.at(count).before > quality;
    const size = sizeOf(count);
    if (ends) return size;
    if (size > 2 * room) return undefined;
  }
  return undefined;
}

/** 0..1 by chance that the text decides: the beginning of what follows the cut, and all of it where beginnings are alike. */
function rankOf(text: string, atom: Atom): number {
  // Words are short: what follows them is looked at too.
  const end = atom.before >= QUALITY.sentence ? atom.end : text.length;
  const head = hashRange(text, atom.start, Math.min(end, atom.start + RANK_UNITS));
  // The whole counts for a small share only, to tell apart atoms that begin alike.
  return (head + hashRange(text, atom.start, Math.min(atom.end, atom.start + 2_000)) / 0x1_0000_0000) / 0x1_0000_0000;
}
