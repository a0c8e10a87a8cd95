import type { z } from 'zod';
import type { Path } from './problems.js';

/** The parts of zod's own description of a schema that are walked here. */
interface Definition {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  innerType?: z.core.$ZodType;
  out?: z.core.$ZodType;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  options?: z.core.$ZodType[];
}

/** The keys that a schema knows at a path; of a union, those of all its members. */
export function knownKeysAt(schema: z.core.$ZodType, path: Path): string[] {
  let level = objectsOf(schema);
  for (const part of path) level = level.flatMap((member) => below(member, part)).flatMap(objectsOf);
  return [...new Set(level.flatMap(({ shape }) => Object.keys(shape ?? {})))];
}

/** What stands behind optional, default, preprocess and union. */
function objectsOf(schema: z.core.$ZodType): Definition[] {
  // Sound: def is zod's public introspection; each member is optional here.
  const definition = schema._zod.def as unknown as Definition;
  if (definition.innerType !== undefined) return objectsOf(definition.innerType);
  if (definition.type === 'pipe' && definition.out !== undefined) return objectsOf(definition.out);
  if (definition.options !== undefined) return definition.options.flatMap(objectsOf);
  return [definition];
}

function below(definition: Definition, part: string | number): z.core.$ZodType[] {
  const next = typeof part === 'number' ? definition.element : (definition.shape?.[part] ?? definition.valueType);
  return next === undefined ? [] : [next];
}

/** The word that was probably meant: the nearest by edits, if it is near enough. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of words) {
    const distance = editDistance(word.toLowerCase(), candidate);
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
