import type { Caller, CommitRecord } from '@sluice/core';
import type { ApiDeps } from '../deps.js';
import { findServing } from './find.js';

/** UTF-16 units of one answer; what is longer is read piece by piece. */
const MAX_UNITS = 1_000_000;

interface TextRange {
  doc_id: string;
  revision?: string | undefined;
  start?: number | undefined;
  /** Not before `start`. */
  end?: number | undefined;
}

interface DocumentText {
  doc_id: string;
  revision: string;
  text: string;
  start: number;
  /** End of `text`: less than asked for when the piece was too long for one answer. */
  end: number;
  /** Length of the whole text. */
  length: number;
}

/**
 * A range of a document's parsed text, UTF-16 units.
 * @param maxUnits most units of one answer
 * @throws SluiceError `not_found`, `revision_outdated`
 */
export function readText(
  { store, retrieval: { reading } }: Pick<ApiDeps, 'store' | 'retrieval'>,
  caller: Caller,
  { doc_id, revision, start = 0, end }: TextRange,
  maxUnits: number = MAX_UNITS,
): Promise<DocumentText & Pick<CommitRecord, 'metadata' | 'source_path'>> {
  return reading.whole(async () => {
    const record = await findServing({ store }, caller, doc_id, revision);
    const { length } = await reading.manifest(record);
    const from = Math.min(start, length);
    const to = Math.min(end ?? length, length, from + maxUnits);
    const text = await reading.text(record, from, to);
    const { metadata, source_path } = record;
    return { doc_id: record.doc_id, revision: record.revision, text, start: from, end: to, length, metadata, source_path };
  });
}
