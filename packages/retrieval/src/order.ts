import type { SearchHit } from '@sluice/core';
import { entryOf } from './expand.js';
import type { Reading } from './reading.js';

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Best first; ties by doc_id, then by place in the document. The place is in the manifest, which is read only for documents that
 * have a tie within themselves.
 */
export async function orderHits(hits: readonly SearchHit[], reading: Reading): Promise<SearchHit[]> {
  const ordered = [...hits].sort((a, b) => b.score - a.score || byText(a.chunk.doc_id, b.chunk.doc_id));
  for (let from = 0; from < ordered.length; ) {
    const first = ordered[from];
    let to = from + 1;
    while (to < ordered.length && tied(first, ordered[to])) to += 1;
    if (first !== undefined && to - from > 1) {
      const manifest = await reading.manifest(first.commit);
      const start = (hit: SearchHit) => entryOf(manifest, hit.chunk.id).start;
      const group = ordered.slice(from, to).sort((a, b) => start(a) - start(b) || byText(a.chunk.id, b.chunk.id));
      ordered.splice(from, group.length, ...group);
    }
    from = to;
  }
  return ordered;
}

function tied(a: SearchHit | undefined, b: SearchHit | undefined): boolean {
  return a !== undefined && b !== undefined && a.score === b.score && a.chunk.doc_id === b.chunk.doc_id;
}
