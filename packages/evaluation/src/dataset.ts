/** A document, or a passage of one, that a question should find. */
export interface Relevant {
  /** doc_id, path or file name; see `resolveDocuments`. */
  document: string;
  /** How relevant, from 1; 0 is judged and not relevant. */
  grade: number;
  /** Only results that hold this text count, white space aside. */
  quote?: string;
}

export interface Question {
  id: string;
  text: string;
  /** Empty: no document answers it. */
  relevant: Relevant[];
  /** What the question asks for, as `date` or `table`; reports have a line for each. */
  kind?: string;
  filter?: Record<string, unknown>;
  /** Part of the data set, as `tune` and `held-out`; reports have a line for each. */
  split?: string;
}

/** What documents a data set brings along; without any it is about those of the running instance. */
export type DatasetDocuments = { folder: string } | { texts: DatasetText[] };

/** A document to be written as `<name>`. */
export interface DatasetText {
  name: string;
  text: string;
}

export interface Dataset {
  name: string;
  format: 'jsonl' | 'beir' | 'trec' | 'csv';
  questions: Question[];
  documents?: DatasetDocuments;
}
