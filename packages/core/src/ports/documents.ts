import type { ChunkedDocument, PageStart } from '../chunks.js';
import type { ParsedDocument, SelfMetadata } from '../parsed.js';
import type { FileIdentity } from './files.js';

/** Bounds on what parsing one document may take. Over one: `limit_exceeded`, `too_large`, `parse_timeout` or `parse_memory`. */
export interface ParseLimits {
  /** Bytes of the file. */
  fileBytes: number;
  /** UTF-16 units of the parsed text. */
  textUnits: number;
  parseMs: number;
  parseMemoryMb: number;
  /** Uncompressed over compressed size of an archive's entries. */
  archiveRatio: number;
  archiveEntries: number;
  /** Nesting depth of XML, JSON, HTML, mails in mails. */
  depth: number;
}

export interface ParseInput {
  bytes: Uint8Array;
  /** File name with extension, without folders: a hint, content decides first. */
  name: string;
  limits: ParseLimits;
  /** Passwords to try on encrypted files, in order. */
  passwords?: readonly string[];
  /** Format's own settings from the source's configuration, by format name. */
  settings?: Readonly<Record<string, unknown>>;
  /** 0..1, called now and then on long work. */
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
}

/** Reads one family of formats. A parser is one folder in the parsers package and one line in its registry. */
export interface Parser {
  /** Name in the registry and in commits, as `markdown`. */
  readonly format: string;
  /** Grows when the parser's output for the same bytes changes: part of the fingerprint. */
  readonly version: number;
  parse(input: ParseInput): Promise<ParsedDocument>;
}

/** Settings of a chunking strategy, as validated by the chunking package: `strategy` and that strategy's own keys. */
export type ChunkingSettings = { strategy: string } & Readonly<Record<string, unknown>>;

/** Parse and chunk one file, in a process of its own with bounds on time and memory. */
export interface DocumentReader {
  read(request: ReadRequest, signal?: AbortSignal): Promise<ReadResult>;
  close(): Promise<void>;
}

export interface ReadRequest {
  docId: string;
  /** Absolute path. The file is read by the process that parses it. */
  path: string;
  /** Bytes of the file when it was last seen, to tell large from small. Default 0 (small). */
  size?: number;
  /** What was found at the path. Another file in its place is not read: a folder may have been exchanged for a link since. */
  found?: FileIdentity;
  limits: ParseLimits;
  chunking: ChunkingSettings;
  passwords?: readonly string[];
  settings?: Readonly<Record<string, unknown>>;
  onProgress?: (share: number) => void;
}

/** What is left of a document once it is parsed and chunked: its chunks, and what the manifest needs beside them. */
export interface ReadResult extends ChunkedDocument {
  /** sha256 of the bytes that were parsed. */
  contentHash: string;
  bytes: number;
  format: string;
  /** Length of the parsed text in UTF-16 units. */
  length: number;
  /** Stretches of text that no chunk's own text covers. */
  gaps: { start: number; text: string }[];
  pages: PageStart[];
  metadata: SelfMetadata;
  frontMatter?: Record<string, unknown>;
  warnings: string[];
  lang?: string;
  /** As in ParsedDocument: nothing was there to read yet. */
  unfinished?: boolean;
}
