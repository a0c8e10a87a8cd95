import { SluiceError } from '@sluice/core';
import type { Nodes, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFootnoteFromMarkdown } from 'mdast-util-gfm-footnote';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { gfmTable } from 'micromark-extension-gfm-table';

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
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
  'characterReference',
];

const extensions = [gfmTable(), gfmFootnote(), { disable: { null: INLINE } }];
const mdastExtensions = [gfmTableFromMarkdown(), gfmFootnoteFromMarkdown()];

/** Lists and quotes in a line nest: one level a marker. */
const MARKER = '(?:[>*+-]|\\d{1,9}[.)])';

/** The blocks of a Markdown text (CommonMark with GitHub's tables and footnotes), with their places. */
export function parseBlocks(text: string, depth: number): RootContent[] {
  if (
    new RegExp(`^(?:[ \\t]*${MARKER}){${depth}}`, 'm').test(text) ||
    new RegExp(`^[ \\t]{${2 * depth}}[ \\t]*${MARKER}`, 'm').test(text)
  )
    throw new SluiceError('limit_exceeded', `quotes or lists are nested deeper than limits.depth allows (${depth})`);
  return fromMarkdown(text, { extensions, mdastExtensions }).children;
}

/** A heading's title as a reader sees it: without marks, links as their text. */
export function plainTitle(source: string): string {
  const simple =
    source.length > 500 ? undefined : /^(?:#{1,6}[ \t]+)?([^*_`[\]<>&\\!~#\n]*?)[ \t]*(?:\n[=-]+[ \t]*)?$/.exec(source)?.[1];
  if (simple !== undefined) return simple.replace(/\s+/g, ' ');
  const [node] = fromMarkdown(source.slice(0, 2_000)).children;
  return node === undefined ? source : visibleText(node).replace(/\s+/g, ' ').trim();
}

function visibleText(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value;
  if ('alt' in node) return node.alt ?? '';
  if (node.type === 'break') return ' ';
  return 'children' in node ? node.children.map(visibleText).join('') : '';
}
