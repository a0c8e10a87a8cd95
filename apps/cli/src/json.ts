import type { Chunk, Element, ParsedDocument } from '@sluice/core';

/** INTERFACES 2, `parse --json`. */
export function parsedJson(document: ParsedDocument): unknown {
  return {
    text: document.text,
    elements: document.elements.map(elementJson),
    metadata: document.metadata,
    ...(document.frontMatter === undefined ? {} : { front_matter: document.frontMatter }),
    ...(document.attachments === undefined ? {} : { attachments: document.attachments }),
    warnings: document.warnings,
    format: document.format,
    ...(document.lang === undefined ? {} : { lang: document.lang }),
  };
}

function elementJson({ kind, level, text, page, start, end, rows, lang, path }: Element): unknown {
  return { kind, level, text, page, start, end, rows, lang, path };
}

/** INTERFACES 2, `chunk --json`: one member of the array. */
export function chunkJson(chunk: Chunk): unknown {
  return {
    index: chunk.index,
    kind: chunk.kind,
    text: chunk.text,
    start: chunk.start,
    end: chunk.end,
    prefix: chunk.prefix,
    derived: chunk.derived,
    embedding_text: chunk.embeddingText,
    heading_path: chunk.headingPath,
    page_start: chunk.pageStart,
    page_end: chunk.pageEnd,
    tokens: chunk.tokens,
    window: chunk.window,
    window_start: chunk.windowStart,
    window_end: chunk.windowEnd,
    original_sentence: chunk.originalSentence,
    sentence_index: chunk.sentenceIndex,
    parent_id: chunk.parentId,
    parent_start: chunk.parentStart,
    parent_end: chunk.parentEnd,
    metadata: chunk.metadata,
  };
}
