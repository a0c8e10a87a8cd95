import { sha256 } from '@sluice/core';
import { QUALITY } from '../layout/atoms.js';
import type { Layout } from '../layout/context.js';
import type { Piece } from '../layout/finish.js';
import { mergeSmall } from '../layout/merge.js';
import type { Section } from '../layout/outline.js';
import { packAtoms } from '../layout/pack.js';
import { cutPlain, cutSections, finishPieces } from './recursive.js';
import type { ChunkingStrategy } from './strategy.js';

/**
 * Small chunks are embedded; a query returns the larger passage around them. A parent is a heading's section with all below it where
 * that is within `parent_tokens`, else the sections below it, else consecutive chunks of a section.
 */
export const parentDocument: ChunkingStrategy<'parent-document'> = {
  version: 1,
  cut: (layout, settings) => ({ chunks: finishPieces(layout, cutFamilies(layout, settings.parent_tokens, settings.structure)) }),
};

/** A section with the chunks cut from it. */
interface Branch {
  level: number;
  children: Child[];
  tokens: number;
}

interface Child extends Piece {
  tokens: number;
}

function* cutFamilies(layout: Layout, parentTokens: number, structure: boolean): Generator<Piece> {
  const seen = new Map<string, number>();
  for (const family of familiesOf(branchesOf(layout, structure), parentTokens, layout)) {
    const start = Math.min(...family.map((child) => child.start));
    const end = Math.max(...family.map((child) => child.end));
    const extra = { parentId: parentId(layout, start, end, seen), parentStart: start, parentEnd: end };
    for (const child of family) yield { ...child, extra };
  }
}

/** Equal passages of one document are told apart by their order; passages of different documents by the document's own id. */
function parentId(layout: Layout, start: number, end: number, seen: Map<string, number>): string {
  const hash = sha256(`${layout.documentId}\u0000${layout.outline.text.slice(start, end)}`).slice(0, 24);
  const times = seen.get(hash) ?? 0;
  seen.set(hash, times + 1);
  return times === 0 ? hash : `${hash}-${times}`;
}

function branchesOf(layout: Layout, structure: boolean): Branch[] {
  if (!structure) return [branchOf(layout, 0, cutPlain(layout))];
  return layout.outline.sections.map((section) =>
    branchOf(layout, levelOf(section), cutSections(layout, { plain: true }, [section])),
  );
}

function branchOf(layout: Layout, level: number, pieces: Iterable<Piece>): Branch {
  const children: Child[] = [];
  let tokens = 0;
  for (const piece of mergeSmall(layout, pieces)) {
    const own = layout.counter.count(layout.outline.text.slice(piece.start, piece.end));
    tokens += own;
    children.push({ ...piece, tokens: own });
  }
  return { level, children, tokens };
}

/** Level of the heading that opens a section; text before the first heading is above all. */
function levelOf(section: Section): number {
  const [first] = section.blocks;
  return first?.kind === 'heading' ? (first.element?.level ?? 1) : 0;
}

function* familiesOf(branches: readonly Branch[], most: number, layout: Layout): Generator<Child[]> {
  const tokens = branches.reduce((sum, branch) => sum + branch.tokens, 0);
  const [only] = branches;
  if (only === undefined) return;
  if (tokens <= most && isSubtree(branches)) {
    const children = branches.flatMap((branch) => branch.children);
    if (children.length > 0) yield children;
    return;
  }
  if (branches.length === 1) {
    yield* packChildren(only.children, most, layout);
    return;
  }
  for (const part of partsOf(branches)) yield* familiesOf(part, most, layout);
}

/** One section, or a heading's section with those below it: neighbours of one level share no parent. */
function isSubtree([first, ...rest]: readonly Branch[]): boolean {
  if (rest.length === 0) return true;
  return first !== undefined && first.level > 0 && rest.every((branch) => branch.level > first.level);
}

/** Parts at the headings of the highest level; where the first section alone has it, the first section and the rest. */
function partsOf(branches: readonly Branch[]): Branch[][] {
  const [first, ...rest] = branches;
  if (first === undefined) return [];
  const top = rest.reduce((least, branch) => Math.min(least, branch.level), Number.POSITIVE_INFINITY);
  if (first.level < top) return [[first], rest];
  const parts: Branch[][] = [];
  for (const branch of branches) {
    const last = parts.at(-1);
    if (last === undefined || branch.level <= top) parts.push([branch]);
    else last.push(branch);
  }
  return parts;
}

function* packChildren(children: readonly Child[], most: number, layout: Layout): Generator<Child[]> {
  const atoms = children.map((child) => ({ start: child.start, end: child.end, tokens: child.tokens, before: QUALITY.block }));
  let index = 0;
  for (const span of packAtoms(atoms, {
    text: layout.outline.text,
    unit: 'tokens',
    roomFirst: most,
    roomNext: most,
    overlap: 0,
  })) {
    const family: Child[] = [];
    for (let child = children[index]; child !== undefined && child.end <= span.end; child = children[index]) {
      family.push(child);
      index++;
    }
    if (family.length > 0) yield family;
  }
}
