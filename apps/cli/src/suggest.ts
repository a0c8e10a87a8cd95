import { resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import { suggestQuestions } from '@sluice/evaluation';
import { allDocuments } from './all-documents.js';
import type { Context } from './context.js';
import { EXIT, type ExitCode } from './exit.js';
import { writeNewLines } from './new-file.js';

/** Documents that are read, questions that are made of them, passages read of each. */
const DOCUMENTS = 300;
const QUESTIONS = 100;
const PASSAGES = 40;

/** Writes a first data set made of what is indexed: the work of `sluice eval --suggest`. An existing file stays as it is. */
export async function suggest(context: Context, path: string): Promise<ExitCode> {
  const { output, cwd } = context;
  const api = await context.api();
  const indexed = await allDocuments(api, { status: 'indexed' });
  // Evenly over all of them, whose order is that of their names.
  const step = Math.max(1, indexed.length / DOCUMENTS);
  const chosen = Array.from({ length: Math.min(indexed.length, DOCUMENTS) }, (_, index) => indexed[Math.floor(index * step)]);
  const passages: { doc_id: string; text: string }[] = [];
  for (const [index, document] of chosen.entries()) {
    if (document === undefined) continue;
    const params = { path: { doc_id: document.id }, query: { limit: PASSAGES } };
    const { chunks = [] } = dataOf(await api.GET('/v1/documents/{doc_id}/chunks', { params }));
    passages.push(...chunks.filter(({ kind }) => kind !== 'code').map(({ text }) => ({ doc_id: document.doc_id, text })));
    output.bar(index + 1, chosen.length, 'documents');
  }
  const questions = suggestQuestions(passages, QUESTIONS);
  const file = resolve(cwd, path);
  await writeNewLines(file, questions);
  output.value({ file, questions: questions.length });
  output.line(`${questions.length} questions written to ${file}: read them, and reword them as people would ask.`);
  return EXIT.done;
}
