import { type Caller, docUuid, SluiceError, topCommit } from '@sluice/core';
import type { RetrievalDeps } from './deps.js';
import { mayKnow } from './may-know.js';
import type { Reading } from './reading.js';

/** Chunks that stand for a document: evenly spread, so that a long one is not known by its beginning alone. */
const SAMPLE = 50;

/**
 * The direction in which the chunks of a document lie: the mean of their vectors, of length 1.
 * @throws SluiceError `not_found` for a document that is not served, or that the caller may not know of
 */
export async function vectorOfDocument(
  { store }: Pick<RetrievalDeps, 'store'>,
  reading: Reading,
  { docId, caller }: { docId: string; caller: Caller },
): Promise<Float32Array> {
  const uuid = docUuid(docId);
  const records = (await store.recordsOf([uuid])).get(uuid) ?? [];
  const commit = topCommit(records);
  if (commit === undefined || commit.chunks === 0 || !mayKnow(caller, records)) {
    throw new SluiceError('not_found', `No document ${docId}.`);
  }
  const { entries } = await reading.manifest(commit);
  const step = Math.max(1, entries.length / SAMPLE);
  const ids = Array.from({ length: Math.min(SAMPLE, entries.length) }, (_, n) => entries[Math.floor(n * step)]?.id ?? '');
  const chunks = await reading.chunks(ids, { vectors: true });
  const sum = new Float32Array(chunks[0]?.vector?.length ?? 0);
  for (const { vector = [] } of chunks) for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + value;
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((value) => value / length);
}
