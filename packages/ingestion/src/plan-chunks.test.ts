import { type Chunk, type CommitRecord, docUuid, type Manifest } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChunkPlan, planChunks } from './plan-chunks.js';

const DOC = docUuid('inbox/a.md');

const of = (attempt: string, embedder = 'model@1') => ({ documentUuid: DOC, attempt, embedder });

function chunksOf(texts: readonly string[]): Chunk[] {
  let at = 0;
  return texts.map((text, index) => {
    const start = at;
    at += text.length + 1;
    return {
      index,
      kind: 'text',
      text,
      start,
      end: start + text.length,
      prefix: '',
      derived: false,
      headingPath: [],
      tokens: 1,
      metadata: {},
    };
  });
}

function recordOf(plan: ChunkPlan): { record: CommitRecord; manifest: Manifest } {
  const record = {
    live: plan.live,
    superseded: plan.superseded,
    superseded_revs: plan.supersededRevs,
    chunks: plan.manifest.length,
  };
  // The planner reads these members only.
  return {
    record: record as unknown as CommitRecord,
    manifest: { entries: plan.manifest, gaps: [], length: 0, pages: [], dropped: [] },
  };
}

/** What a reader sees of a set of stored objects under a plan: those of live attempts that are not superseded. */
function visible(stored: ReadonlyMap<string, string>, plan: ChunkPlan): string[] {
  const live = new Set(plan.live);
  const superseded = new Set(plan.superseded);
  return [...stored].filter(([id, rev]) => live.has(rev) && !superseded.has(id)).map(([id]) => id);
}

describe('planChunks', () => {
  it('keeps equal chunks of the base and writes the rest', () => {
    const first = planChunks(of('one'), chunksOf(['a', 'b', 'c']), undefined);
    const second = planChunks(of('two'), chunksOf(['a', 'x', 'c']), { ...recordOf(first), keep: true });
    expect(second.fresh.map((chunk) => chunk.text)).toEqual(['x']);
    expect(second.live).toEqual(['one', 'two']);
    expect(second.superseded).toEqual([first.manifest[1]?.id]);
  });

  it('keeps no chunk that another model embedded, and shares no text hash with it', () => {
    const first = planChunks(of('one', 'model@1'), chunksOf(['a', 'b']), undefined);
    const second = planChunks(of('two', 'model@2'), chunksOf(['a', 'b']), { ...recordOf(first), keep: true });
    expect(second.fresh.map((chunk) => chunk.text)).toEqual(['a', 'b']);
    const hashes = [...first.manifest, ...second.manifest].map((entry) => entry.text_hash);
    expect(new Set(hashes).size).toBe(4);
  });

  it('keeps nothing when the document-wide metadata differ', () => {
    const first = planChunks(of('one'), chunksOf(['a', 'b']), undefined);
    const second = planChunks(of('two'), chunksOf(['a', 'b']), { ...recordOf(first), keep: false });
    expect(second.fresh).toHaveLength(2);
    expect(second).toMatchObject({ live: ['two'], superseded: [] });
  });

  it('gives repeated paragraphs an object each', () => {
    const first = planChunks(of('one'), chunksOf(['same', 'same', 'same']), undefined);
    expect(new Set(first.manifest.map((entry) => entry.id)).size).toBe(3);
    const second = planChunks(of('two'), chunksOf(['same', 'same']), { ...recordOf(first), keep: true });
    expect(second.fresh).toHaveLength(0);
    expect(second.superseded).toHaveLength(1);
  });

  it('shows readers exactly the manifest after any history of edits within one grace', () => {
    const version = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(version, { minLength: 1, maxLength: 8 }), (history) => {
        const stored = new Map<string, string>();
        let base: ChunkPlan | undefined;
        for (const [n, texts] of history.entries()) {
          const plan: ChunkPlan = planChunks(
            of(`attempt-${n}`),
            chunksOf(texts),
            base === undefined ? undefined : { ...recordOf(base), keep: true },
          );
          for (const chunk of plan.fresh) stored.set(chunk.id, `attempt-${n}`);
          // Nothing is deleted: every superseded object of every earlier version is still stored.
          expect(visible(stored, plan).sort()).toEqual(plan.manifest.map((entry) => entry.id).sort());
          expect(plan.superseded).toHaveLength(plan.supersededRevs.length);
          base = plan;
        }
      }),
    );
  });
});
