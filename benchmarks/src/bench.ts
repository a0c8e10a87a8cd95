import type { RawLimit } from './raw-limit.js';

/** Services and model that a run measures on. */
export interface BenchServices {
  redis: string;
  weaviate: string;
  /** Port of Weaviate's gRPC, for clients that use it; empty where it is not known. */
  grpcPort: string;
  /** Folder of the embedding model. */
  model: string;
}

export interface BenchContext {
  services: BenchServices;
  /** How much each row does. */
  sizes: BenchSizes;
  raw: RawLimit;
  /** A line for the reader while rows run. */
  say(line: string): void;
}

export interface BenchSizes {
  /** Documents of one chunk, ingested at once. */
  documents: number;
  /** Paragraphs (and so about as many chunks) of a long document. */
  paragraphs: number;
  /** Chunks of the document that is edited. */
  editedChunks: number;
  /** Small files written one by one, and edits of a kind. */
  repeats: number;
  /** Files of the unchanged rescan. */
  rescanned: number;
  /** Queries of a search row. */
  queries: number;
  /** Chunks that the store holds during a search row. */
  searched: number;
  /** Chunks in the store at each point of the growth row. */
  growth: readonly number[];
  /** Numbers of worker processes. */
  workers: readonly number[];
  /** Texts of a raw-limit measurement. */
  rawTexts: number;
  /** Characters of the texts that are chunked. */
  chunked: readonly number[];
  /** Part of the names of the documents that are parsed; undefined for all. */
  parsed: string | undefined;
}

/** `npm run bench`: enough for figures that repeat. */
export const FULL: BenchSizes = {
  documents: 1400,
  paragraphs: 25,
  editedChunks: 1000,
  repeats: 50,
  rescanned: 10_000,
  queries: 200,
  searched: 10_000,
  growth: [1000, 20_000],
  workers: [1, 2, 4],
  rawTexts: 300,
  chunked: [10_000, 100_000, 1_000_000, 10_000_000],
  parsed: undefined,
};

/** `--short`: a look in minutes. */
export const SHORT: BenchSizes = {
  ...FULL,
  documents: 300,
  repeats: 15,
  rescanned: 2000,
  queries: 50,
  searched: 2000,
  growth: [1000, 5000],
  workers: [1, 2],
  rawTexts: 100,
  chunked: [10_000, 100_000],
};

/** `--tiny`: whether each row still works; its figures mean nothing. */
export const TINY: BenchSizes = {
  documents: 6,
  paragraphs: 3,
  editedChunks: 20,
  repeats: 2,
  rescanned: 20,
  queries: 4,
  searched: 40,
  growth: [20, 40],
  workers: [1, 2],
  rawTexts: 4,
  chunked: [2000],
  parsed: 'csv',
};

/** One line of the table. Names carry their units. */
export type Row = { what: string } & Record<string, number | string>;

/** Measures and returns its rows. */
export type Bench = (context: BenchContext) => Promise<Row[]>;
