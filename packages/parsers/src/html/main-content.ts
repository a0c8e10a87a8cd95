import { contains, findAll, type HtmlNode } from './tree.js';

/** Parts of a page that are about the site, not about the page. */
const SITE_ROLES = new Set([
  'navigation',
  'banner',
  'contentinfo',
  'search',
  'complementary',
  'dialog',
  'alertdialog',
  'menu',
  'menubar',
  'toolbar',
]);
const SITE_NAMES =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|footer|breadcrumbs?|cookies?|consent|adverts?|advertisement|ads?|sponsored|share|sharing|social|related|newsletter|promo|popup|modal|skip-?link|pagination|toc)(?:$|[\s_-])/i;

/** A `main` or `article` is believed when it holds this share of the page's text. */
const MAIN_SHARE = 0.25;
/** When less than this share of the text is left, leaving out was wrong and all is kept. */
const KEPT_SHARE = 0.2;

/** What remains of a page once navigation, banners, side bars and footers are left out. */
export function mainContent(root: HtmlNode): HtmlNode {
  const body = findAll(root, (node) => node.name === 'body')[0] ?? root;
  const whole = visibleLength(body);
  const mains = findAll(body, (node) => node.name === 'main' || node.attributes.role === 'main');
  const articles = findAll(body, (node) => node.name === 'article');
  for (const candidates of [mains, articles]) {
    const [only] = candidates;
    if (only === undefined || candidates.length > 1 || visibleLength(only) < whole * MAIN_SHARE) continue;
    const main = prune(only, true);
    return hasTitle(main) ? main : { ...main, children: [...titlesBefore(body, only), ...main.children] };
  }
  const pruned = prune(body, false);
  return visibleLength(pruned) < whole * KEPT_SHARE ? body : pruned;
}

const isTitle = (node: HtmlNode): boolean => node.name === 'h1';

function hasTitle(node: HtmlNode): boolean {
  return isTitle(node) || contains(node, isTitle);
}

/** The page's title, where it stands in a header before the main content. */
function titlesBefore(body: HtmlNode, main: HtmlNode): HtmlNode[] {
  const before = findAll(body, (node) => node === main || node.name === 'header');
  return before.slice(0, Math.max(0, before.indexOf(main))).flatMap((header) => findAll(header, isTitle));
}

function prune(node: HtmlNode, inMain: boolean): HtmlNode {
  const inside = inMain || node.name === 'article' || node.name === 'main';
  const children: (HtmlNode | string)[] = [];
  for (const child of node.children) {
    if (typeof child === 'string') children.push(child);
    else if (!isSitePart(child, inside)) children.push(prune(child, inside));
    // The page's title often stands in the site's header.
    else if (child.name === 'header') children.push(...findAll(child, isTitle));
  }
  return { ...node, children };
}

function isSitePart(node: HtmlNode, inMain: boolean): boolean {
  if (node.name === 'nav' || SITE_ROLES.has(node.attributes.role ?? '')) return true;
  if (node.attributes['aria-hidden'] === 'true' && node.name !== 'span') return true;
  if (!inMain && (node.name === 'footer' || node.name === 'header' || node.name === 'aside')) return true;
  if (node.name !== 'div' && node.name !== 'ul' && node.name !== 'section' && node.name !== 'aside') return false;
  const label = `${node.attributes.class ?? ''} ${node.attributes.id ?? ''}`;
  return (
    SITE_NAMES.test(label) && linkShare(node) > 0.5 && !contains(node, (child) => child.name === 'table' || child.name === 'pre')
  );
}

/** Visible characters under a node. */
function visibleLength(node: HtmlNode): number {
  let length = 0;
  for (const child of node.children) {
    if (typeof child !== 'string') {
      length += visibleLength(child);
      continue;
    }
    for (let at = 0; at < child.length; at++) if (child.charCodeAt(at) > 0x20) length++;
  }
  return length;
}

/** Share of a node's text that stands in links. */
function linkShare(node: HtmlNode): number {
  const length = visibleLength(node);
  const links = findAll(node, (child) => child.name === 'a').reduce((sum, link) => sum + visibleLength(link), 0);
  return length === 0 ? 0 : links / length;
}
