import { blockRun } from './block-run.js';
import { type Layout, leadOf, roomUnder } from './context.js';
import type { Block, Section } from './outline.js';
import { blockAtoms, contextOf, introduces, isCaption, keyOf, outerPath, type Run, type RunOptions } from './run.js';

/** Where the runs of a section begin and end: a table, list or code that must be cut is one of its own. */
export function* runsOf(layout: Layout, section: Section, options: RunOptions): Generator<Run> {
  let pending: Block[] = [];
  let key = '';
  for (let index = 0; index < section.blocks.length; index++) {
    const block = section.blocks[index];
    if (block === undefined) break;
    const blockKey = keyOf(block);
    if (block.kind !== 'heading') {
      if (blockKey !== key && pending.some((before) => before.kind !== 'heading')) {
        yield textRun(layout, section, pending);
        pending = [];
      }
      key = blockKey;
    }
    if (!standsAlone(layout, section, block, options)) {
      pending.push(block);
      continue;
    }
    const introduced = splitIntroduction(layout, pending, block);
    if (introduced.before.length > 0) yield textRun(layout, section, introduced.before);
    const caption = block.kind === 'table' ? captionBelow(layout, section, index, introduced.introduction) : [];
    index += caption.length;
    yield blockRun(layout, section, introduced.introduction, block, caption, options);
    pending = [];
  }
  if (pending.length > 0) yield textRun(layout, section, pending);
}

/** Definitions from this share of the room on are chunks of their own; smaller ones are packed together. */
const OWN_SHARE = 1 / 4;

function standsAlone(layout: Layout, section: Section, block: Block, options: RunOptions): boolean {
  if (block.kind === 'table' && options.plain) return true;
  if (block.kind !== 'table' && block.kind !== 'code' && block.kind !== 'list') return false;
  // A record of JSON is found by itself.
  if (options.plain && block.element?.path !== undefined) return true;
  const room = roomUnder(layout, [leadOf(layout, section.path), contextOf(layout, block)]);
  if (!layout.measure.fits(block.start, block.end, room)) return true;
  const defines = options.plain && block.kind === 'code' && block.element?.context !== undefined;
  return defines && !layout.measure.fits(block.start, block.end, room * OWN_SHARE);
}

/** A caption or a line that ends with a colon belongs to what follows it, and a heading that nothing parts from them. */
export function splitIntroduction(layout: Layout, pending: readonly Block[], block: Block) {
  let from = pending.length;
  const last = pending[from - 1];
  if (last !== undefined && introduces(layout, last, block)) from--;
  if (pending.slice(0, from).every((before) => before.kind === 'heading')) from = 0;
  return { before: pending.slice(0, from), introduction: pending.slice(from) };
}

/** The caption below the table at `index`, where it has none above and the next table has no claim to it. */
function captionBelow(layout: Layout, section: Section, index: number, above: readonly Block[]): Block[] {
  const after = section.blocks[index + 1];
  if (after === undefined || !isCaption(layout, after) || section.blocks[index + 2]?.kind === 'table') return [];
  return after.kind === 'caption' || !above.some((block) => isCaption(layout, block)) ? [after] : [];
}

function textRun(layout: Layout, section: Section, blocks: readonly Block[]): Run {
  const last = blocks.at(-1);
  const context = last === undefined ? '' : contextOf(layout, last);
  const rooms = {
    first: roomUnder(layout, [leadOf(layout, outerPath(section.path, blocks)), context]),
    next: roomUnder(layout, [leadOf(layout, section.path), context]),
  };
  return {
    path: section.path,
    rooms,
    overlaps: blocks.every((block) => block.kind !== 'table' && block.kind !== 'code'),
    atoms: () => blockAtoms(layout, blocks, Math.min(rooms.first, rooms.next)),
    context,
  };
}
