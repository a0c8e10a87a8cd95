import type { PdfMark, PdfPage, PdfStructNode, PdfTextItem } from './pdf-types.js';

const MAX_DEPTH = 100;

/** Levels of the headings of a page by the ids of their marked content, as a tagged PDF says them. */
export async function headingTags(page: PdfPage): Promise<ReadonlyMap<string, number>> {
  const levels = new Map<string, number>();
  const tree = await page.getStructTree().catch(() => null);
  if (tree !== null) collect(tree, undefined, levels, 0);
  return levels;
}

function collect(node: PdfStructNode, level: number | undefined, levels: Map<string, number>, depth: number): void {
  if (node.id !== undefined && level !== undefined) levels.set(node.id, level);
  if (depth > MAX_DEPTH) return;
  for (const child of node.children ?? []) collect(child, levelOf(child.role) ?? level, levels, depth + 1);
}

/** H1 to H6; H and Title are the outermost. */
function levelOf(role: string | undefined): number | undefined {
  if (role === undefined) return undefined;
  if (role === 'H' || role === 'Title') return 1;
  const digit = /^H([1-6])$/.exec(role)?.[1];
  return digit === undefined ? undefined : Number(digit);
}

/** Follows the marks among the items of a page and tells the level of the heading in which the next text stands. */
export function createTagReader(levels: ReadonlyMap<string, number>): (mark: PdfMark) => number | undefined {
  const open: (number | undefined)[] = [];
  return (mark) => {
    if (mark.type === 'endMarkedContent') open.pop();
    else if (/^beginMarkedContent/.test(mark.type))
      open.push((mark.id === undefined ? undefined : levels.get(mark.id)) ?? open.at(-1));
    return open.at(-1);
  };
}

export function isMark(item: PdfTextItem | PdfMark): item is PdfMark {
  return 'type' in item;
}
