import type { Element, ParsedDocument, SelfMetadata } from '@sluice/core';
import type { DocumentBuilder } from './document-builder.js';
import { detectLanguage } from './language.js';

export interface DocumentFacts {
  metadata: SelfMetadata;
  warnings: string[];
  /** As the document declares it; recognised from the text otherwise. */
  lang?: string | undefined;
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

function finish(format: string, text: string, elements: Element[], { metadata, warnings, lang }: DocumentFacts): ParsedDocument {
  const language = lang ?? (elements.length === 0 ? undefined : detectLanguage(text));
  return { text, elements, metadata, warnings, format, ...(language === undefined ? {} : { lang: language }) };
}
