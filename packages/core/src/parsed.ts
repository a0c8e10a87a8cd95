import type { ReasonCode } from './errors.js';

/** What a parser yields, in document order. INTERFACES: parsed JSON. */
export type ElementKind = 'heading' | 'paragraph' | 'list' | 'table' | 'code' | 'quote' | 'caption' | 'formula' | 'other';

export interface Element {
  kind: ElementKind;
  /** Headings only, from 1. */
  level?: number;
  /** Headings whose text carries marks of its format, as `## Care`: the bare title, for heading paths. Otherwise `text` is it. */
  title?: string;
  /** `document.text.slice(start, end)`, always. */
  text: string;
  /** From 1; slides too. */
  page?: number;
  /** Offset in `document.text`, in UTF-16 units. */
  start: number;
  end: number;
  /** Tables only: rows of cells as text, header row included, merged cells repeated. */
  rows?: string[][];
  /** Code: the programming language; other text: its ISO 639-1 language, where it differs from the document's. */
  lang?: string;
  /** Number of leading rows that are the header; default 1 for tables, 0 where the parser knows there is none. */
  headerRows?: number;
  /** Offsets in `document.text` of each row's text (tables) or item (lists), so that a chunker can cut between them. */
  parts?: { start: number; end: number }[];
  /** Code: symbols that enclose this element, outermost first, as `class Kettle`; given to the embedder as context. */
  context?: string[];
  /** JSON and the like: the path of the value within its document; files within a file: their names. Outermost first. */
  path?: string[];
}

/** What a document says of itself, in the names of the metadata (doc_title, author, created_at, lang, ...). Values as found. */
export type SelfMetadata = Record<string, unknown>;

/** A file within a file. Its text is a part of the document's; it fails alone. */
export interface Attachment {
  /** Its name, behind those of the mails within the mail that it hangs on: what its elements carry as `path`. */
  path: string[];
  /** The format's name in the registry; absent where none reads it. */
  format?: string;
  outcome: 'indexed' | 'empty' | ReasonCode;
  /** Where its elements stand in `document.text`, heading included; absent where nothing was read. */
  start?: number;
  end?: number;
}

export interface ParsedDocument {
  text: string;
  elements: Element[];
  metadata: SelfMetadata;
  /** The YAML front matter as parsed, when there is one. It stays in `text`, but no element covers it. */
  frontMatter?: Record<string, unknown>;
  /** Reason-code-like words with an optional detail after a colon, as `encoding_guessed: windows-1252`. */
  warnings: string[];
  /** The format's name in the registry, as `markdown`. */
  format: string;
  /** ISO 639-1 code of the main language, where one was recognised. */
  lang?: string;
  /** The file has 0 bytes, which no file of its format has: a copy that has begun, or that failed. */
  unfinished?: boolean;
  /** Files found inside this one (attachments of a mail, and those of mails within), each with what became of it. */
  attachments?: Attachment[];
}
