import { SluiceError } from '@sluice/core';
import type { Question } from './dataset.js';

/**
 * Finds the documents that a data set names. A name is a doc_id, else a path within a source, else a file name, else one without its
 * extension; the first of these that any document has counts.
 *
 * @returns doc_id by name; names that no document has are missing from it
 * @throws SluiceError `invalid_request` where a name fits several documents
 */
export function resolveDocuments(questions: readonly Question[], docIds: readonly string[]): Map<string, string> {
  const levels = LEVELS.map((nameOf) => {
    const byName = new Map<string, string[]>();
    for (const docId of docIds) {
      const name = nameOf(docId).normalize('NFC');
      byName.set(name, [...(byName.get(name) ?? []), docId]);
    }
    return byName;
  });
  const resolved = new Map<string, string>();
  for (const { relevant } of questions) {
    for (const { document } of relevant) {
      if (resolved.has(document)) continue;
      const fits = levels.map((byName) => byName.get(document.normalize('NFC'))).find((found) => found !== undefined);
      if (fits === undefined) continue;
      const [docId, ...others] = fits;
      if (others.length > 0) {
        throw new SluiceError('invalid_request', `"${document}" may be any of ${fits.slice(0, 3).join(', ')}: name its doc_id`);
      }
      if (docId !== undefined) resolved.set(document, docId);
    }
  }
  return resolved;
}

const pathOf = (docId: string) => docId.slice(docId.indexOf('/') + 1);
const fileOf = (docId: string) => docId.slice(docId.lastIndexOf('/') + 1);
const LEVELS = [(docId: string) => docId, pathOf, fileOf, (docId: string) => fileOf(docId).replace(/\.[^.]+$/, '')];
