import type { Element, ParsedDocument } from '@sluice/core';
import { oneLine } from './clean-text.js';
import type { DocumentBuilder, ListItem } from './document-builder.js';

/** Appends an attachment's elements under a heading with its name. */
export function appendDocument(builder: DocumentBuilder, document: ParsedDocument, path: readonly string[]): void {
  if (document.elements.length === 0) return;
  const level = path.length + 1;
  builder.heading(Math.min(level, 6), oneLine(path.at(-1) ?? ''));
  appendElements(builder, document, { level, path });
}

/** Appends the elements of a file within the file, its headings `level` levels deeper. */
export function appendElements(
  builder: DocumentBuilder,
  document: ParsedDocument,
  { level = 0, path }: { level?: number; path?: readonly string[] } = {},
): void {
  for (const element of document.elements) {
    const place = path === undefined || element.path === undefined ? {} : { path: [...path, ...element.path] };
    switch (element.kind) {
      case 'heading':
        builder.heading(level + (element.level ?? 1), element.title ?? element.text, place);
        break;
      case 'list':
        builder.list(listItems(element), place);
        break;
      case 'table':
        builder.table(element.rows ?? [], { headerRows: element.headerRows ?? 1, ...place });
        break;
      case 'code':
        builder.code(element.text, { ...(element.lang === undefined ? {} : { lang: element.lang }), ...place });
        break;
      default:
        builder.block(element.kind, element.text, place);
    }
  }
}

/** Outer items with all that they hold. */
function listItems({ text, parts, start }: Element): ListItem[] {
  return (parts ?? []).map((part) => listItem(text.slice(part.start - start, part.end - start)));
}

/** An item, its marker parted from its text. */
export function listItem(item: string): ListItem {
  const marker = /^\S+/.exec(item)?.[0] ?? '-';
  return { marker, depth: 0, text: item.slice(marker.length) };
}
