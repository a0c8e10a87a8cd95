import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { z } from 'zod';
import type { Dataset, DatasetDocuments, DatasetText } from './dataset.js';
import { invalidDataset, readJsonLines } from './lines.js';
import { readCsv } from './read-csv.js';
import { judgedQuestions, readQrels, readTopics } from './read-qrels.js';
import { readQuestions, withDistinctIds } from './read-questions.js';

/**
 * Reads a data set. A file is questions.jsonl in Sluice's form, or a CSV. A folder is one of
 * - `questions.jsonl`, and where it brings its documents along, `documents/`;
 * - BEIR: `queries.jsonl`, `qrels/test.tsv` (or `qrels.tsv`), `corpus.jsonl`;
 * - TREC: `topics*`, `qrels*`, and `documents/` or `corpus.jsonl`.
 *
 * Errors: `not_found`, `invalid_request` naming file and line.
 */
export async function loadDataset(path: string): Promise<Dataset> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new SluiceError('invalid_request', `no data set ${path}`);
  const name = basename(path).replace(/\.(jsonl|ndjson|csv|tsv)$/i, '');
  if (!found.isDirectory()) {
    const text = await readFile(path, 'utf8');
    const isTable = /\.(csv|tsv)$/i.test(path);
    return isTable
      ? { name, format: 'csv', questions: readCsv(text, path) }
      : { name, format: 'jsonl', questions: readQuestions(text, path) };
  }
  const entries = await readdir(path);
  if (entries.includes('questions.jsonl')) {
    const file = join(path, 'questions.jsonl');
    const questions = readQuestions(await readFile(file, 'utf8'), file);
    return { name, format: 'jsonl', questions, ...(await documentsOf(path, entries)) };
  }
  if (entries.includes('queries.jsonl')) return { name, format: 'beir', ...(await loadBeir(path, entries)) };
  const topics = entries.find((entry) => /^topics/i.test(entry));
  const qrels = entries.find((entry) => /^qrels/i.test(entry));
  if (topics !== undefined && qrels !== undefined) {
    const texts = readTopics(await readFile(join(path, topics), 'utf8'), join(path, topics));
    return { name, format: 'trec', ...(await loadJudged(path, entries, texts, join(path, qrels))) };
  }
  throw invalidDataset(path, 'is no data set: expected questions.jsonl, or queries.jsonl and qrels, or topics and qrels');
}

const querySchema = z.looseObject({ _id: z.coerce.string(), text: z.string() });
const corpusSchema = z.looseObject({ _id: z.coerce.string(), title: z.string().nullish(), text: z.string() });

async function loadBeir(path: string, entries: string[]) {
  const file = join(path, 'queries.jsonl');
  const queries = readJsonLines(await readFile(file, 'utf8'), file, querySchema);
  const texts = new Map(queries.map(({ _id, text }) => [_id, text]));
  const qrels = entries.includes('qrels') ? join(path, 'qrels', 'test.tsv') : join(path, 'qrels.tsv');
  return loadJudged(path, entries, texts, qrels);
}

async function loadJudged(path: string, entries: string[], texts: ReadonlyMap<string, string>, qrelsFile: string) {
  const text = await readFile(qrelsFile, 'utf8').catch(() => {
    throw invalidDataset(path, `lacks its judgements ${qrelsFile}`);
  });
  const brought = await documentsOf(path, entries);
  const nameOf = brought.documents !== undefined && 'texts' in brought.documents ? fileNameOf : (id: string) => id;
  const questions = judgedQuestions(texts, readQrels(text, qrelsFile), nameOf);
  return { questions: withDistinctIds(questions, qrelsFile), ...brought };
}

async function documentsOf(path: string, entries: string[]): Promise<{ documents?: DatasetDocuments }> {
  if (entries.includes('documents')) return { documents: { folder: join(path, 'documents') } };
  if (!entries.includes('corpus.jsonl')) return {};
  const file = join(path, 'corpus.jsonl');
  const texts = readJsonLines(await readFile(file, 'utf8'), file, corpusSchema).map(
    ({ _id, title, text }): DatasetText => ({ name: fileNameOf(_id), text: title ? `${title}\n\n${text}\n` : `${text}\n` }),
  );
  return { documents: { texts } };
}

/** The file that a document of a corpus becomes: any id makes a name that every file system takes. */
function fileNameOf(id: string): string {
  return `${encodeURIComponent(id).replace(/[*.]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}.txt`;
}
