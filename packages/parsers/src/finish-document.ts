import type { Element, ParsedDocument, SelfMetadata } from '@sluice/core';
import type { DocumentBuilder } from './document-builder.js';
import { detectLanguage } from './language.js';

export interface DocumentFacts {
  metadata: SelfMetadata;
  warnings: string[];
  /** As the document declares it; recognised from the text otherwise. `none` for text that is in no human language. */
  lang?: string | undefined;
  /** Its first heading is its title, where it does not say otherwise. */
  titleFromHeading?: boolean;
}

/** The document that a builder has built. */
export function finishBuilt(format: string, builder: DocumentBuilder, facts: DocumentFacts): ParsedDocument {
  const { text, elements } = builder.build();
  return finish(format, text, elements, facts);
}

/** The document whose text is its file's. A file without anything visible has text ''. */
export function finishSource(format: string, text: string, elements: Element[], facts: DocumentFacts): ParsedDocument {
  return finish(format, elements.length === 0 ? '' : text, elements, facts);
}

function finish(format: string, text: string, elements: Element[], facts: DocumentFacts): ParsedDocument {
  const { warnings, lang = elements.length === 0 ? undefined : detectLanguage(text) } = facts;
  const title = facts.titleFromHeading && facts.metadata.doc_title === undefined ? titleOf(elements) : undefined;
  const metadata = title === undefined ? facts.metadata : { ...facts.metadata, doc_title: title };
  if (lang === 'none') return { text, elements, metadata, warnings, format };
  // The language of the only passage was recognised just now.
  if (elements.length > 1 || facts.lang !== undefined) markLanguages(elements, lang);
  return { text, elements, metadata, warnings, format, ...(lang === undefined ? {} : { lang }) };
}

/** Elements before a title: a line or two. */
const BEFORE_TITLE = 2;
const MAX_TITLE = 200;

function titleOf(elements: readonly Element[]): string | undefined {
  const heading = elements.slice(0, BEFORE_TITLE + 1).find((element) => element.kind === 'heading' && element.level === 1);
  const title = (heading?.title ?? heading?.text ?? '').trim();
  return title === '' || title.length > MAX_TITLE ? undefined : title;
}

/** Shorter passages do not tell their language; of long documents the first passages are looked at. */
const PASSAGE = 120;
const MAX_PASSAGES = 3_000;

/** Marks passages in another language than the document's. */
function markLanguages(elements: readonly Element[], lang: string | undefined): void {
  let count = 0;
  for (const element of elements) {
    if (element.text.length < PASSAGE || (element.kind !== 'paragraph' && element.kind !== 'quote' && element.kind !== 'list'))
      continue;
    if (++count > MAX_PASSAGES) return;
    const own = detectLanguage(element.text);
    if (own !== undefined && own !== lang) element.lang = own;
  }
}
