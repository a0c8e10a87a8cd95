import { SluiceError } from '@sluice/core';
import type { Nodes, RootContent } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';

/**
 * Inline syntax decides nothing about blocks and costs most of the time, some of it growing with the square of the input (open
 * brackets, emphasis): it is read in headings only.
 */
const INLINE = [
  'attention',
  'autolink',
  'codeText',
  'hardBreakEscape',
  'htmlText',
  'labelStartImage',
  'labelStartLink',
  'labelEnd',
  'strikethrough',
  'literalAutolink',
  'gfmFootnoteCall',
  'characterReference',
];

function withoutInline(this: Processor): void {
  const data = this.data() as { micromarkExtensions?: unknown[] };
  // biome-ignore format: one entry
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), { disable: { null: INLINE } }];
}

const blocks = unified().use(remarkParse).use(remarkGfm).use(withoutInline).freeze();
const inline = unified().use(remarkParse).use(remarkGfm).freeze();

/** The blocks of a Markdown text, with their places. */
export function parseBlocks(text: string, depth: number): RootContent[] {
  if (nestsDeeper(text, depth))
    throw new SluiceError('limit_exceeded', `quotes or lists are nested deeper than limits.depth allows (${depth})`);
  return blocks.parse(text).children;
}

/** Long runs of markers at the start of a line nest containers: one level a marker. */
function nestsDeeper(text: string, depth: number): boolean {
  const run = new RegExp(`^(?:[ \\t]*(?:[>*+-]|\\d{1,9}[.)])){${depth}}`, 'm');
  return run.test(text);
}

/** A heading's title as a reader sees it: without marks, links as their text. */
export function plainTitle(source: string): string {
  const [node] = inline.parse(source.slice(0, 2_000)).children;
  return node === undefined ? source : visibleText(node).replace(/\s+/g, ' ').trim();
}

function visibleText(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value;
  if ('alt' in node) return node.alt ?? '';
  return 'children' in node ? node.children.map(visibleText).join('') : node.type === 'break' ? ' ' : '';
}
