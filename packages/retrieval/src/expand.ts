import { type Manifest, type ManifestEntry, type PageStart, type SearchHit, SluiceError } from '@sluice/core';
import { bestPage, pageAt } from './pages.js';
import type { Reading } from './reading.js';
import type { Citation, Expansion } from './types.js';

/** A hit with the text that is returned for it, and where that text stands. */
export interface Passage {
  hit: SearchHit;
  text: string;
  citation: Citation;
  /** Span of the document's chunks, the first to the last, and where its pages start. */
  document: { start: number; end: number; pages: readonly PageStart[] };
}

/** Span of the text that is returned: the chunk's own, its window, or its parent. A chunk that has neither stays itself. */
function spanOf(entry: ManifestEntry, expansion: Expansion): { start: number; end: number; own: boolean } {
  const own = { start: entry.start, end: entry.end, own: true };
  const at = (start: number | undefined, end: number | undefined) =>
    start === undefined || end === undefined || (start === entry.start && end === entry.end) ? own : { start, end, own: false };
  if (expansion === 'window') return at(entry.windowStart, entry.windowEnd);
  if (expansion === 'parent') return at(entry.parentStart, entry.parentEnd);
  return own;
}

export function entryOf(manifest: Manifest, chunkId: string): ManifestEntry {
  const entry = manifest.entries.find((candidate) => candidate.id === chunkId);
  if (entry === undefined) throw new SluiceError('store_rejected', `chunk ${chunkId} is not in its revision's manifest`);
  return entry;
}

/**
 * The passage that a hit is returned as. Windows and parents come from the hit's own revision, so the access filter that let the
 * hit through holds for them too.
 */
export async function passageOf(reading: Reading, hit: SearchHit, expansion: Expansion, query: string): Promise<Passage> {
  const manifest = await reading.manifest(hit.commit);
  const entry = entryOf(manifest, hit.chunk.id);
  const span = spanOf(entry, expansion);
  const text = span.own ? hit.chunk.text : await reading.text(hit.commit, span.start, span.end);
  const prefix = span.own && !entry.derived ? entry.prefix : '';
  const passage = entry.derived && span.own ? '' : text.slice(prefix.length);

  const first = pageAt(manifest.pages, span.start);
  const citation: Citation = { start: span.start, end: span.end, heading_path: entry.headingPath };
  if (first !== undefined) {
    citation.page = bestPage(manifest.pages, passage, span.start, query) ?? first;
    citation.page_start = first;
    citation.page_end = pageAt(manifest.pages, Math.max(span.start, span.end - 1)) ?? first;
  } else if (entry.pageStart !== undefined) {
    citation.page = entry.pageStart;
    citation.page_start = entry.pageStart;
    citation.page_end = entry.pageEnd ?? entry.pageStart;
  }
  if (prefix !== '') citation.prefix = prefix;
  if (entry.derived && span.own) citation.derived = true;
  const document = {
    start: manifest.entries[0]?.start ?? 0,
    end: manifest.entries.at(-1)?.end ?? manifest.length,
    pages: manifest.pages,
  };
  return { hit, text, citation, document };
}

/** One passage a span: several children of one parent, or a window met twice, would else be the same text again. */
export function passageKey({ hit, citation, text }: Passage): string {
  return `${hit.chunk.doc_id}\u0000${citation.start}\u0000${citation.end}\u0000${citation.derived ? text : ''}`;
}
