import { oneLine } from '../clean-text.js';
import type { DocumentBuilder } from '../document-builder.js';
import type { OfficePackage, Relationship } from '../office/package.js';
import { readParagraph } from './runs.js';

/** A page number with its word, in any language: says nothing of the document. */
const PAGE_NUMBER = /^\W*(?:\p{L}{1,10}\.?)?\s*[\divxlc]+\s*(?:(?:\p{L}{1,4}|[/|–-])\s*\d+)?\W*$/iu;

/** Letterheads, reference numbers and the like, each once: paragraphs of headers and footers whose text the body does not hold. */
export async function writeHeaders(
  office: OfficePackage,
  relationships: readonly Relationship[],
  builder: DocumentBuilder,
): Promise<void> {
  const texts: string[] = [];
  for (const kind of ['header', 'footer']) {
    for (const { type, part } of relationships) {
      if (type !== kind) continue;
      for await (const event of office.events(part, (name) => name === 'p')) {
        if (event.type !== 'node') continue;
        const { text, boxes } = readParagraph(event.node);
        texts.push(text, ...boxes.map((box) => readParagraph(box).text));
      }
    }
  }
  const lines = new Set(texts.map(oneLine).filter((text) => /\p{L}|\d{3}/u.test(text) && !PAGE_NUMBER.test(text)));
  if (lines.size === 0) return;
  const body = builder.written();
  for (const line of lines) if (!body.includes(line)) builder.paragraph(line);
}
