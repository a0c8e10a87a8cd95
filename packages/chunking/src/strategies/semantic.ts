import { type Embedder, SluiceError } from '@sluice/core';
import { type Atom, QUALITY } from '../layout/atoms.js';
import { type Layout, leadOf, packOptions, roomUnder } from '../layout/context.js';
import { finishPiece, type Piece } from '../layout/finish.js';
import { mergeSmall } from '../layout/merge.js';
import { packAtoms } from '../layout/pack.js';
import { cutToSize, type Unit, unitsOf } from '../layout/units.js';
import type { SettingsOf } from '../settings.js';
import { createRollingQuantile } from '../text/quantile.js';
import { embedSentences } from './sentence-vectors.js';
import type { ChunkingStrategy, StrategyDeps } from './strategy.js';

const DEFAULT_PERCENTILE = 95;
/** Cosines of floats that differ by less are equal. */
const NOISE = 1e-6;

/**
 * Cuts prose where the meaning turns: where the cosine of adjacent sentences is low, by an absolute threshold or against the
 * distances of the sentences around. Within a section; tables and code are cut as `auto` cuts them.
 */
export const semantic: ChunkingStrategy<'semantic'> = {
  version: 1,
  cut: (layout, settings, deps) => ({ chunks: cutByMeaning(layout, settings, deps) }),
};

async function* cutByMeaning(layout: Layout, settings: SettingsOf<'semantic'>, deps: StrategyDeps) {
  if (deps.embedder === undefined) throw new SluiceError('internal', 'the semantic strategy was called without an embedder');
  const units: Unit[] = [];
  for (const unit of unitsOf(layout)) units.push(...cutToSize(layout, unit));
  const vectors = await embedUnits(layout, units, deps.embedder, deps);
  const turns = findTurns(units, vectors, settings);
  for (const piece of mergeSmall(layout, packGroups(layout, units, turns))) yield* finishPiece(layout, piece);
}

/** One vector a sentence, without its headings; none for tables and code. */
async function embedUnits(layout: Layout, units: readonly Unit[], embedder: Embedder, deps: StrategyDeps) {
  const { text } = layout.outline;
  const textOf = (unit: Unit) => text.slice(Math.max(unit.start, Math.min(unit.textStart, unit.end - 1)), unit.end);
  const texts = units.filter((unit) => unit.prose).map(textOf);
  const vectors = await embedSentences(texts, embedder, deps.vectors, deps.signal);
  return units.map((unit) => (unit.prose ? vectors.get(textOf(unit)) : undefined));
}

interface Turns {
  /** Cosine of unit n - 1 and unit n, where both are sentences of one group. */
  cosines: (number | undefined)[];
  /** True where a cut lies before unit n. */
  cuts: boolean[];
}

function findTurns(
  units: readonly Unit[],
  vectors: readonly (Float32Array | undefined)[],
  settings: SettingsOf<'semantic'>,
): Turns {
  const means = settings.buffer === 0 ? vectors : withNeighbours(units, vectors, settings.buffer);
  const cosines = units.map((unit, index) => {
    const before = means[index - 1];
    const own = means[index];
    return before === undefined || own === undefined || units[index - 1]?.group !== unit.group ? undefined : cosine(before, own);
  });
  if (settings.threshold !== undefined) {
    const { threshold } = settings;
    return { cosines, cuts: cosines.map((value) => value !== undefined && value < threshold - NOISE) };
  }
  const distances = cosines.filter((value) => value !== undefined).map((value) => 1 - value);
  const bounds = createRollingQuantile(distances, settings.neighbourhood, (settings.percentile ?? DEFAULT_PERCENTILE) / 100);
  let at = 0;
  return { cosines, cuts: cosines.map((value) => value !== undefined && 1 - value > bounds(at++) + NOISE) };
}

/** The mean of a sentence's vector and those of its neighbours in the group: no sentence is embedded twice. */
function withNeighbours(units: readonly Unit[], vectors: readonly (Float32Array | undefined)[], buffer: number) {
  return vectors.map((own, index) => {
    if (own === undefined) return undefined;
    const sum = new Float32Array(own.length);
    for (let near = index - buffer; near <= index + buffer; near++) {
      const vector = vectors[near];
      if (vector === undefined || units[near]?.group !== units[index]?.group) continue;
      for (let dimension = 0; dimension < sum.length; dimension++)
        sum[dimension] = (sum[dimension] ?? 0) + (vector[dimension] ?? 0);
    }
    return sum;
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let lengthA = 0;
  let lengthB = 0;
  for (let index = 0; index < a.length; index++) {
    const left = a[index] ?? 0;
    const right = b[index] ?? 0;
    dot += left * right;
    lengthA += left * left;
    lengthB += right * right;
  }
  return lengthA === 0 || lengthB === 0 ? 0 : dot / Math.sqrt(lengthA * lengthB);
}

/** Sentences between two turns, parted again at their deepest breaks where they are over the size of a chunk. */
function* packGroups(layout: Layout, units: readonly Unit[], turns: Turns): Generator<Piece> {
  let from = 0;
  for (let index = 1; index <= units.length; index++) {
    const parted = index === units.length || turns.cuts[index] === true || units[index]?.group !== units[from]?.group;
    const whole = units[from];
    if (whole === undefined || !(parted || !whole.prose)) continue;
    if (whole.prose) yield* packSentences(layout, units, from, index, turns);
    else yield whole;
    from = index;
  }
}

function* packSentences(layout: Layout, units: readonly Unit[], from: number, to: number, turns: Turns): Generator<Piece> {
  const first = units[from];
  if (first === undefined) return;
  const lead = leadOf(layout, first.path);
  const room = roomUnder(layout, [lead, first.run.context]);
  const ranks = new Map<number, number>();
  const atoms: Atom[] = [];
  for (let index = from; index < to; index++) {
    const unit = units[index];
    if (unit === undefined) break;
    ranks.set(unit.start, turns.cosines[index] ?? 0);
    atoms.push({
      start: unit.start,
      end: unit.end,
      tokens: layout.measure.tokens(unit.start, unit.end),
      before: QUALITY.sentence,
    });
  }
  const options = {
    ...packOptions(layout, { first: room, next: room }, false),
    rank: (atom: Atom) => ranks.get(atom.start) ?? 1,
  };
  for (const span of packAtoms(atoms, options)) yield { start: span.start, end: span.end, path: first.path, run: first.run };
}
