import {
  type Chunk,
  type CommitRecord,
  hashOf,
  KEYWORD_VERSION,
  type Manifest,
  type ManifestEntry,
  objectUuid,
  sha256,
} from '@sluice/core';

/** A chunk that needs an object of its own in this attempt. */
export interface FreshChunk {
  /** Position in the new manifest. */
  position: number;
  id: string;
  text: string;
  embeddingText: string;
  textHash: string;
  kind: string;
  lang: string | undefined;
}

export interface ChunkPlan {
  manifest: ManifestEntry[];
  fresh: FreshChunk[];
  live: string[];
  superseded: string[];
  supersededRevs: string[];
}

/** What the planner reads of the base. */
export interface PlanBase {
  record: CommitRecord;
  manifest: Manifest;
  /** Whether its chunk objects carry the very metadata of the new revision. */
  keep: boolean;
}

/**
 * Hash of what is embedded, and of the model that embeds it: another model file under the same name is another model, and its vectors
 * are not comparable. 32 hex digits: 128 bits, since equal hashes share a vector.
 */
function textHashOf(embedder: string, embeddingText: string): string {
  return sha256(`${embedder}\n${embeddingText}`).slice(0, 32);
}

/** Hash of what a chunk object holds besides document-wide metadata. */
function objectHashOf(chunk: Pick<Chunk, 'text' | 'embeddingText' | 'kind' | 'lang'>): string {
  return hashOf([KEYWORD_VERSION, chunk.text, chunk.embeddingText ?? null, chunk.kind, chunk.lang ?? null]).slice(0, 32);
}

/** Whose chunks are planned. */
export interface PlanTarget {
  documentUuid: string;
  attempt: string;
  /** Embedder's id: weights, tokenizer, engine, pooling. */
  embedder: string;
}

/**
 * Decides which of the base's chunks stay live and which chunks are new. Chunks are kept only from the base, and only when the same model
 * embedded them; equal chunks are taken in document order, so that a document that repeats a paragraph keeps as many objects as it has
 * repetitions.
 */
export function planChunks(
  { documentUuid, attempt, embedder }: PlanTarget,
  chunks: readonly Chunk[],
  base: PlanBase | undefined,
): ChunkPlan {
  const keepable = new Map<string, ManifestEntry[]>();
  if (base?.keep) {
    for (const entry of base.manifest.entries) {
      const key = `${entry.object_hash} ${entry.text_hash}`;
      const same = keepable.get(key);
      if (same === undefined) keepable.set(key, [entry]);
      else same.push(entry);
    }
    // The lists are taken from their ends: turn them round once instead of shifting each time.
    for (const list of keepable.values()) list.reverse();
  }

  const kept = new Set<string>();
  const fresh: FreshChunk[] = [];
  const manifest: ManifestEntry[] = [];
  for (const [position, chunk] of chunks.entries()) {
    const { text, embeddingText, window: _window, index: _index, ...rest } = chunk;
    const objectHash = objectHashOf(chunk);
    const embedded = embeddingText ?? text;
    const textHash = textHashOf(embedder, embedded);
    const old = keepable.get(`${objectHash} ${textHash}`)?.pop();
    if (old !== undefined) {
      kept.add(old.id);
      manifest.push({ ...rest, id: old.id, rev: old.rev, text_hash: textHash, object_hash: objectHash });
      continue;
    }
    const id = objectUuid(documentUuid, attempt, fresh.length);
    fresh.push({ position, id, text, embeddingText: embedded, textHash, kind: chunk.kind, lang: chunk.lang });
    manifest.push({ ...rest, id, rev: attempt, text_hash: textHash, object_hash: objectHash });
  }

  return { manifest, fresh, ...liveAfter({ attempt, manifest, wrote: fresh.length > 0, base, kept }) };
}

/** The live attempts, and what of them is superseded: the base's list plus what this attempt leaves out, for attempts still live. */
function liveAfter({
  attempt,
  manifest,
  wrote,
  base,
  kept,
}: {
  attempt: string;
  manifest: readonly ManifestEntry[];
  wrote: boolean;
  base: PlanBase | undefined;
  kept: ReadonlySet<string>;
}): Pick<ChunkPlan, 'live' | 'superseded' | 'supersededRevs'> {
  const live = new Set(manifest.map((entry) => entry.rev));
  if (wrote) live.add(attempt);
  const superseded: string[] = [];
  const supersededRevs: string[] = [];
  const add = (id: string, rev: string) => {
    if (!live.has(rev)) return;
    superseded.push(id);
    supersededRevs.push(rev);
  };
  if (base !== undefined) {
    for (const [n, id] of base.record.superseded.entries()) add(id, base.record.superseded_revs[n] ?? '');
    for (const entry of base.manifest.entries) if (!kept.has(entry.id)) add(entry.id, entry.rev);
  }
  return { live: [...live], superseded, supersededRevs };
}
