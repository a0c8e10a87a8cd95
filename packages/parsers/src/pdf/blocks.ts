import type { Region } from './regions.js';
import type { Segment } from './rows.js';
import { type DocumentStatistics, headingLevel } from './statistics.js';

export type Block =
  | { kind: 'heading'; level: number; lines: string[] }
  | { kind: 'paragraph'; lines: string[] }
  | { kind: 'caption'; lines: string[] }
  | { kind: 'list'; items: { marker: string; lines: string[] }[] }
  | { kind: 'code'; text: string };

const BULLET = /^([•◦▪▫‣●○■□◆◇➢✓✔❑❖·∙*–—-])\s+(?=\S)/;
const NUMBER = /^(\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])\s+(?=\S)/;
const CAPTION = /^(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|chart|exhibit|图|表|図)\s*\d+\s*[.:：]/i;
const SENTENCE_END = /[.!?:;。！？：；…]["”’)\]]*$/;

/** A gap of this many usual line steps parts paragraphs. */
const PARAGRAPH_GAP = 1.3;

/** Parts the lines of a column into headings, paragraphs, lists, captions and code. */
export function blocksOf(region: Extract<Region, { kind: 'lines' }>, statistics: DocumentStatistics): Block[] {
  const groups = groupLines(region);
  const blocks: Block[] = [];
  for (const lines of groups) {
    const texts = lines.map((line) => line.text);
    const [first] = texts;
    if (first === undefined) continue;
    const item = BULLET.exec(first) ?? (lines.length > 0 ? NUMBER.exec(first) : null);
    const level = headingLevel(lines, statistics);
    const last = blocks.at(-1);
    if (CAPTION.test(first)) blocks.push({ kind: 'caption', lines: texts });
    else if (level !== undefined && BULLET.exec(first) === null) blocks.push({ kind: 'heading', level, lines: texts });
    else if (isCode(lines, statistics)) {
      const text = codeText(lines, region.x0);
      if (last?.kind === 'code') last.text += `\n${text}`;
      else blocks.push({ kind: 'code', text });
    } else if (item !== null) {
      const entry = {
        marker: /^[\w(]/.test(item[1] ?? '') ? (item[1] ?? '-') : '-',
        lines: [first.slice(item[0].length), ...texts.slice(1)],
      };
      if (last?.kind === 'list') last.items.push(entry);
      else blocks.push({ kind: 'list', items: [entry] });
    } else blocks.push({ kind: 'paragraph', lines: texts });
  }
  return blocks.map((block) => (block.kind === 'list' ? realList(block) : block));
}

/** One item with a number alone is a paragraph that begins with one. */
function realList(block: Extract<Block, { kind: 'list' }>): Block {
  const [only] = block.items;
  if (block.items.length > 1 || only === undefined || only.marker === '-') return block;
  return { kind: 'paragraph', lines: [`${only.marker} ${only.lines[0] ?? ''}`, ...only.lines.slice(1)] };
}

function groupLines(region: Extract<Region, { kind: 'lines' }>): Segment[][] {
  const { lines, x0, x1 } = region;
  const width = Math.max(1, x1 - x0);
  const step = usualStep(lines);
  const groups: Segment[][] = [];
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    const group = groups.at(-1);
    if (before === undefined || group === undefined || beginsBlock(line, before, group)) groups.push([line]);
    else group.push(line);
  }
  return groups;

  function beginsBlock(line: Segment, before: Segment, group: readonly Segment[]): boolean {
    const gap = line.y - before.y;
    const size = Math.max(line.size, before.size);
    if (line.tag !== before.tag) return true;
    if (gap > PARAGRAPH_GAP * step && gap > 1.25 * size) return true;
    if (Math.abs(line.size - before.size) > 0.08 * size) return true;
    if (line.font.endsWith(' mono') && before.font.endsWith(' mono')) return false;
    if (isStart(line)) return true;
    if (line.font !== before.font && isUniform(line, before, group)) return true;
    // Full lines run on; after a short one that ends a sentence something new begins.
    const isFull = line.rtl ? before.x0 < x0 + 0.12 * width : before.x1 > x1 - 0.12 * width;
    const inItem = group[0] !== undefined && isStart(group[0]);
    if (inItem && !isFull && line.x0 <= (group[0]?.x0 ?? 0) + 0.5 * size && !line.rtl) return true;
    if (!isFull && SENTENCE_END.test(before.text) && before.x1 < x1 - 0.25 * width) return true;
    const indented = line.x0 > x0 + 0.9 * size && before.x0 <= x0 + 0.4 * size;
    return indented && !line.rtl && !inItem && lines.length > 2 && SENTENCE_END.test(before.text);
  }
}

function isStart(line: Segment): boolean {
  return BULLET.test(line.text) || NUMBER.test(line.text);
}

/** Whole lines in another font are something else; one word in another font is emphasis. */
function isUniform(line: Segment, before: Segment, group: readonly Segment[]): boolean {
  const isShort = before.text.length < 100 && group.length <= 2;
  return isShort && !/[,;-]$/.test(before.text) && /^[\p{Lu}\p{Lo}\p{N}"“]/u.test(line.text);
}

/** The step between lines of one paragraph: the most frequent one of single spacing, else the most frequent of all. */
function usualStep(lines: readonly Segment[]): number {
  const size = lines[0]?.size ?? 10;
  const counts = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before === undefined) continue;
    const step = Math.round((line.y - before.y) * 2) / 2;
    if (step > 0.8 * line.size && step < 2.5 * line.size) counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const single = ranked.find(([step]) => step < 1.6 * size);
  return (single ?? ranked[0])?.[0] ?? 1.25 * size;
}

function isCode(lines: readonly Segment[], statistics: DocumentStatistics): boolean {
  if (statistics.bodyFont.endsWith(' mono') || (lines.length < 2 && (lines[0]?.text.length ?? 0) < 8)) return false;
  return lines.every((line) => line.font.endsWith(' mono') && /^[\x20-\x7e]*$/.test(line.text));
}

/** Lines of code with their indentation, measured in the width of a character. */
function codeText(lines: readonly Segment[], x0: number): string {
  return lines
    .map((line) => {
      const width = (line.x1 - line.x0) / Math.max(1, line.text.length);
      return ' '.repeat(Math.min(80, Math.max(0, Math.round((line.x0 - x0) / Math.max(1, width))))) + line.text;
    })
    .join('\n');
}
