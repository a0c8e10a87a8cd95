import { type Manifest, SluiceError } from '@sluice/core';

/** Ids of the chunks whose own text is needed to rebuild the span: see {@link textOf}. */
export function chunksWithin(manifest: Manifest, start: number, end: number): string[] {
  const ids: string[] = [];
  for (const entry of manifest.entries) {
    if (!entry.derived && entry.start < end && entry.end > start) ids.push(entry.id);
  }
  return ids;
}

/**
 * Rebuilds `parsedText.slice(start, end)` of a revision. No copy of the parsed text is stored: it is the chunks' own texts laid at
 * their spans, and the manifest's gaps between them.
 *
 * @param texts the stored text of at least the chunks that {@link chunksWithin} names, by chunk id
 * @throws SluiceError `store_rejected` when a stretch is covered by nothing that was given: a chunk is gone, read again
 */
export function textOf(manifest: Manifest, texts: ReadonlyMap<string, string>, start: number, end: number): string {
  const from = Math.max(0, start);
  const to = Math.min(manifest.length, end);
  if (from >= to) return '';
  const pieces: { start: number; text: string }[] = manifest.gaps.filter(
    (gap) => gap.start < to && gap.start + gap.text.length > from,
  );
  for (const entry of manifest.entries) {
    if (entry.derived || entry.start >= to || entry.end <= from) continue;
    const text = texts.get(entry.id);
    if (text !== undefined) pieces.push({ start: entry.start, text: text.slice(entry.prefix.length) });
  }
  pieces.sort((a, b) => a.start - b.start);

  const parts: string[] = [];
  let cursor = from;
  for (const piece of pieces) {
    const pieceEnd = piece.start + piece.text.length;
    if (pieceEnd <= cursor) continue;
    if (piece.start > cursor) break;
    parts.push(piece.text.slice(cursor - piece.start, to - piece.start));
    cursor = Math.min(pieceEnd, to);
    if (cursor === to) return parts.join('');
  }
  throw new SluiceError('store_rejected', `the text from ${cursor} to ${to} is in no chunk that could be read`);
}
