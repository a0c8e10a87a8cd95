import { SluiceError } from '@sluice/core';
import { Parser } from 'htmlparser2';
import { lowered, raised } from '../scripts.js';

export interface HtmlNode {
  /** Tag in lower case. */
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: (HtmlNode | string)[];
}

/** Elements whose content is never text for a reader. */
const UNREAD = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'embed',
  'canvas',
  'audio',
  'video',
  'select',
  'datalist',
  'textarea',
  'input',
  'map',
  'rt',
  'rp',
  'frameset',
  'noframes',
  'applet',
  'dialog',
]);

/** Elements that may be open at once. The time that the reader takes grows with the square of it. */
const MAX_OPEN = 20_000;

/**
 * Reads HTML into a light tree, as XHTML with `isXml`. Nothing is fetched or run. What is nested deeper than the limit is hung up at the limit, as browsers
 * do, so that walking the tree is safe.
 *
 * @throws SluiceError `limit_exceeded` when thousands of elements are open at once
 */
export function parseHtmlTree(html: string, maxDepth: number, { isXml = false } = {}): HtmlNode {
  const root: HtmlNode = { name: '#root', attributes: {}, children: [] };
  const stack: HtmlNode[] = [root];
  /** The end of the text of the block that is being read. */
  let before = '';
  let hidden = 0;
  const controlled = new Set([...html.matchAll(CONTROLS)].flatMap((match) => (match[1] ?? '').split(/\s+/)));
  const scripts = new WeakMap<HtmlNode, string>();
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (stack.length + hidden > MAX_OPEN)
          throw new SluiceError('limit_exceeded', `HTML with more than ${MAX_OPEN} elements open at once`);
        const isUnread = UNREAD.has(name) || (name === 'button' && !isPanelButton(attributes, stack));
        if (hidden > 0 || isUnread || (isHidden(attributes) && !isPanel(attributes, controlled))) {
          hidden++;
          return;
        }
        const node: HtmlNode = { name, attributes, children: [] };
        if (name === 'sup' || name === 'sub') scripts.set(node, before);
        else if (BLOCKS.has(name) || name === 'br') before = '';
        stack[Math.min(stack.length, maxDepth) - 1]?.children.push(node);
        stack.push(node);
      },
      ontext(text) {
        if (hidden > 0) return;
        before = (before + text.replace(/\s+/g, ' ')).slice(-SCRIPT_REACH);
        const target = stack[Math.min(stack.length, maxDepth) - 1];
        const last = target?.children.at(-1);
        if (target !== undefined && typeof last === 'string') target.children[target.children.length - 1] = last + text;
        else target?.children.push(text);
      },
      onclosetag() {
        if (hidden > 0) {
          hidden--;
          return;
        }
        const node = stack.length > 1 ? stack.pop() : undefined;
        const base = node === undefined ? undefined : scripts.get(node);
        if (node !== undefined && base !== undefined) node.children = [scriptText(node, base)];
        else if (node !== undefined && BLOCKS.has(node.name)) before = '';
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true, recognizeSelfClosing: isXml },
  );
  parser.write(html);
  parser.end();
  return root;
}

const CONTROLS = /\saria-controls\s*=\s*["']?([^"'>]+)/gi;

/** A button that is the title of a panel which it opens, as in accordions; others do something and say nothing. */
function isPanelButton(attributes: Readonly<Record<string, string>>, stack: readonly HtmlNode[]): boolean {
  if ('aria-controls' in attributes || 'aria-expanded' in attributes || attributes.role === 'tab') return true;
  if (/^(?:collapse|tab|pill)$/.test(attributes['data-bs-toggle'] ?? attributes['data-toggle'] ?? '')) return true;
  return stack.some(({ name }) => /^(?:h[1-6]|summary)$/.test(name));
}

/** A panel of tabs or of an accordion, hidden only until it is opened. */
function isPanel(attributes: Readonly<Record<string, string>>, controlled: ReadonlySet<string>): boolean {
  const { role, id } = attributes;
  if (role === 'tabpanel') return true;
  return id !== undefined && controlled.has(id) && (role === undefined || role === 'region' || role === 'group');
}

/** Characters before a raised or lowered text by which it is judged. */
const SCRIPT_REACH = 8;

/** Raised and lowered text on the line; a raised link within the page is the mark of a note. */
function scriptText(node: HtmlNode, before: string): string {
  const text = textOf(node);
  if (node.name === 'sub') return lowered(before, text);
  const isMark = contains(node, ({ name, attributes }) => name === 'a' && /^#./.test(attributes.href ?? ''));
  return raised(before, text, isMark);
}

function isHidden(attributes: Record<string, string>): boolean {
  if ('hidden' in attributes && attributes.hidden !== 'until-found') return true;
  const style = attributes.style;
  return style !== undefined && /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

/** All text under a node, as it stands. */
export function textOf(node: HtmlNode | string): string {
  if (typeof node === 'string') return node;
  if (node.name === 'br') return '\n';
  const text = node.children.map(textOf).join('');
  // Blocks stand apart; inline tags part no word.
  return BLOCKS.has(node.name) ? ` ${text} ` : text;
}

/** Elements that stand on lines of their own. */
export const BLOCKS: ReadonlySet<string> = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'body',
  'caption',
  'center',
  'dd',
  'details',
  'dir',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figcaption',
  'figure',
  'footer',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hgroup',
  'hr',
  'html',
  'legend',
  'li',
  'main',
  'menu',
  'nav',
  'ol',
  'p',
  'pre',
  'search',
  'section',
  'summary',
  'table',
  'tbody',
  'td',
  'tfoot',
  'th',
  'thead',
  'tr',
  'ul',
  '#root',
  'head',
  'title',
  'label',
  'option',
]);

/** Finds all nodes under a node that fit, without those inside others that fit. */
export function findAll(node: HtmlNode, fits: (node: HtmlNode) => boolean): HtmlNode[] {
  const found: HtmlNode[] = [];
  for (const child of node.children) {
    if (typeof child === 'string') continue;
    if (fits(child)) found.push(child);
    else found.push(...findAll(child, fits));
  }
  return found;
}

export function contains(node: HtmlNode, fits: (node: HtmlNode) => boolean): boolean {
  return node.children.some((child) => typeof child !== 'string' && (fits(child) || contains(child, fits)));
}
