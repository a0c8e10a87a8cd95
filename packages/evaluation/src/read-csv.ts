import { parse } from 'csv-parse/sync';
import type { Question } from './dataset.js';
import { invalidDataset } from './lines.js';
import { withDistinctIds } from './read-questions.js';

const QUESTION_NAMES = ['question', 'query', 'text'];
const DOCUMENT_NAMES = ['expected_file', 'expected', 'file', 'document', 'doc_id', 'relevant'];

/**
 * Questions of a table with a header row: a question and the file that answers it, several separated by `;`. Rows that repeat a
 * question add to it. Columns `id`, `kind`, `grade` are read where they are there. Error `invalid_request`.
 */
export function readCsv(text: string, file: string): Question[] {
  const header = text.slice(0, text.indexOf('\n'));
  // The one that the header has most of: a spreadsheet writes what its country uses.
  const [delimiter = ','] = [',', ';', '\t'].sort((a, b) => header.split(b).length - header.split(a).length);
  let rows: Record<string, string>[];
  try {
    rows = parse(text, { columns: names, bom: true, delimiter, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw invalidDataset(file, `is no table: ${error instanceof Error ? error.message : String(error)}`);
  }
  const columns = Object.keys(rows[0] ?? {});
  const questionColumn = QUESTION_NAMES.find((name) => columns.includes(name));
  const documentColumn = DOCUMENT_NAMES.find((name) => columns.includes(name));
  if (questionColumn === undefined || documentColumn === undefined) {
    throw invalidDataset(file, `needs the columns "question" and "expected_file"; it has: ${columns.join(', ')}`);
  }
  const questions = new Map<string, Question>();
  for (const [index, row] of rows.entries()) {
    const asked = row[questionColumn] ?? '';
    if (asked === '') throw invalidDataset(`${file}, row ${index + 2},`, 'has no question');
    const question: Question = questions.get(asked) ?? {
      id: row.id || String(questions.size + 1),
      text: asked,
      relevant: [],
      ...(row.kind ? { kind: row.kind } : {}),
    };
    const grade = row.grade ? Number(row.grade) : 1;
    if (!Number.isFinite(grade))
      throw invalidDataset(`${file}, row ${index + 2},`, `has a grade that is no number: ${row.grade}`);
    for (const document of (row[documentColumn] ?? '').split(';')) {
      if (document.trim() !== '') question.relevant.push({ document: document.trim(), grade });
    }
    questions.set(asked, question);
  }
  return withDistinctIds([...questions.values()], file);
}

function names(header: string[]): string[] {
  return header.map((name) => name.trim().toLowerCase().replace(/[ -]+/g, '_'));
}
