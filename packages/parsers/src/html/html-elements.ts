import type { DocumentBuilder, ListItem } from '../document-builder.js';
import { isLayoutTable, readTable } from './html-table.js';
import { BLOCKS, contains, type HtmlNode, textOf } from './tree.js';

const HEADING = /^h([1-6])$/;
const LISTS = new Set(['ul', 'ol', 'menu', 'dir']);
/** What can't stand within a list item's line. */
const isBulky = (node: HtmlNode): boolean => /^(?:table|pre|h[1-6]|blockquote|figure)$/.test(node.name);

/** Writes the elements of a tree of HTML in document order. Headings are `below` levels deeper than in the HTML. */
export function writeHtml(root: HtmlNode, builder: DocumentBuilder, below = 0): void {
  let line = '';

  function flush(): void {
    builder.paragraph(line);
    line = '';
  }

  function walkAll(node: HtmlNode): void {
    for (const child of node.children) walk(child);
  }

  function walk(node: HtmlNode | string): void {
    if (typeof node === 'string') {
      line += node.replace(/[\n\r\t\f ]+/g, ' ');
      return;
    }
    if (node.name === 'br') {
      line += '\n';
      return;
    }
    if (!BLOCKS.has(node.name)) {
      walkAll(node);
      return;
    }
    flush();
    writeBlock(node);
    flush();
  }

  function writeBlock(node: HtmlNode): void {
    const heading = HEADING.exec(node.name);
    if (heading !== null) builder.heading(Number(heading[1]) + below, textOf(node));
    else if (LISTS.has(node.name) && !contains(node, isBulky)) builder.list(listItems(node, 0));
    else if (node.name === 'dl' && !contains(node, isBulky)) builder.list(definitions(node));
    else if (node.name === 'pre') writeCode(node);
    else if (node.name === 'table') writeTable(node);
    else if (node.name === 'blockquote' && !contains(node, (child) => isBulky(child) || LISTS.has(child.name)))
      builder.block('quote', blockText(node));
    else if (node.name === 'figcaption' || node.name === 'caption') builder.block('caption', textOf(node).replace(/\s+/g, ' '));
    else if (node.name !== 'head') walkAll(node);
  }

  function writeCode(node: HtmlNode): void {
    const only = node.children.filter((child) => typeof child !== 'string' || child.trim() !== '');
    const inner = only.length === 1 && typeof only[0] !== 'string' ? only[0] : undefined;
    const lang = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]+)/.exec(
      `${node.attributes.class ?? ''} ${inner?.attributes.class ?? ''}`,
    )?.[1];
    const body = node.children.map(preText).join('');
    builder.code(body, lang === undefined ? {} : { lang });
  }

  function writeTable(node: HtmlNode): void {
    if (isLayoutTable(node)) {
      walkAll(node);
      return;
    }
    const { caption, rows, headerRows } = readTable(node);
    builder.block('caption', caption);
    builder.table(rows, { headerRows });
  }

  walk(root);
  flush();
}

function preText(node: HtmlNode | string): string {
  if (typeof node === 'string') return node;
  return node.name === 'br' ? '\n' : node.children.map(preText).join('');
}

/** Text of several blocks, a line each. */
function blockText(node: HtmlNode): string {
  const lines: string[] = [''];
  const walk = (child: HtmlNode | string): void => {
    if (typeof child === 'string') {
      lines.push(`${lines.pop() ?? ''}${child.replace(/\s+/g, ' ')}`);
      return;
    }
    const isBlock = BLOCKS.has(child.name) || child.name === 'br';
    if (isBlock) lines.push('');
    child.children.forEach(walk);
    if (isBlock) lines.push('');
  };
  node.children.forEach(walk);
  return lines
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n');
}

function listItems(list: HtmlNode, depth: number): ListItem[] {
  const items: ListItem[] = [];
  let number = Number.parseInt(list.attributes.start ?? '1', 10) || 1;
  for (const child of list.children) {
    if (typeof child === 'string') continue;
    if (LISTS.has(child.name)) {
      items.push(...listItems(child, depth + 1));
      continue;
    }
    const own = Number.parseInt(child.attributes.value ?? '', 10);
    if (!Number.isNaN(own)) number = own;
    const nested: HtmlNode[] = [];
    const text = itemText(child, nested).replace(/\s+/g, ' ').trim();
    items.push({ text, depth, marker: list.name === 'ol' ? `${number++}.` : '-' });
    for (const inner of nested) items.push(...listItems(inner, depth + 1));
  }
  return items;
}

/** An item's own text; the lists in it are set aside. */
function itemText(node: HtmlNode | string, nested: HtmlNode[]): string {
  if (typeof node === 'string') return node;
  if (LISTS.has(node.name)) {
    nested.push(node);
    return ' ';
  }
  const text = node.children.map((child) => itemText(child, nested)).join('');
  return BLOCKS.has(node.name) || node.name === 'br' ? ` ${text} ` : text;
}

/** A definition list: a term with its explanations is one item. */
function definitions(list: HtmlNode): ListItem[] {
  const items: ListItem[] = [];
  const add = (node: HtmlNode): void => {
    const text = textOf(node).replace(/\s+/g, ' ').trim();
    const last = items.at(-1);
    if (node.name === 'dt') items.push({ text, depth: 0, marker: '-' });
    else if (node.name === 'dd' && last !== undefined) last.text = `${last.text}${/[:：]$/.test(last.text) ? '' : ':'} ${text}`;
    else for (const child of node.children) if (typeof child !== 'string') add(child);
  };
  for (const child of list.children) if (typeof child !== 'string') add(child);
  return items;
}
