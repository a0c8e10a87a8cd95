import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText, oneLine } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { writeHtml } from './html-elements.js';
import { mainContent } from './main-content.js';
import { findAll, type HtmlNode, parseHtmlTree, textOf } from './tree.js';

/** HTML: the main content, block by block. Nothing is fetched, scripts and styles are not read. */
export async function parseHtml(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes, declaredCharset(input.bytes));
  return readHtml('html', decoded, input);
}

/** A page that is decoded already. */
export function readHtml(format: string, decoded: { text: string; warnings: string[] }, input: ParseInput): ParsedDocument {
  const root = parseHtmlTree(cleanText(decoded.text), input.limits.depth);
  const builder = createDocumentBuilder(input.limits);
  writeHtml(settingsOf(input).html.main_content ? mainContent(root) : root, builder);
  return finishBuilt(format, builder, {
    metadata: htmlMetadata(root),
    warnings: decoded.warnings,
    lang: declaredLanguage(root),
    titleFromHeading: true,
  });
}

/** The encoding that a meta tag names in the first 4 KB. */
export function declaredCharset(bytes: Uint8Array): { declared?: string } {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1');
  const charset =
    /<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1] ?? /<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  // A meta tag that can be read as ASCII can't be in UTF-16 (HTML, section 13.2.3.2).
  return charset === undefined || /^utf-?16/i.test(charset) ? {} : { declared: charset };
}

function declaredLanguage(root: HtmlNode): string | undefined {
  const lang = findAll(root, (node) => node.name === 'html')[0]?.attributes.lang;
  return lang === undefined ? undefined : /^[a-z]{2}(?=$|[-_])/.exec(lang.toLowerCase())?.[0];
}

function htmlMetadata(root: HtmlNode): Record<string, unknown> {
  const metas = new Map<string, string>();
  for (const meta of findAll(root, (node) => node.name === 'meta')) {
    const name = (meta.attributes.name ?? meta.attributes.property ?? '').toLowerCase();
    const content = oneLine(meta.attributes.content ?? '');
    if (name !== '' && content !== '' && !metas.has(name)) metas.set(name, content);
  }
  const title = oneLine(textOf(findAll(root, (node) => node.name === 'title')[0] ?? '')) || metas.get('og:title');
  const author = metas.get('author') ?? metas.get('dc.creator');
  const created = metas.get('article:published_time') ?? metas.get('dc.date') ?? metas.get('date');
  const keywords = metas.get('keywords');
  return {
    ...(title ? { doc_title: title } : {}),
    ...(author === undefined ? {} : { author }),
    ...(created === undefined ? {} : { created_at: created }),
    ...(keywords === undefined
      ? {}
      : {
          tags: keywords
            .split(',')
            .map((word) => word.trim())
            .filter((word) => word !== ''),
        }),
  };
}
