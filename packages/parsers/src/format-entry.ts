import type { Parser } from '@sluice/core';

/** What is known of a format without loading its parser. */
export interface FormatInfo {
  /** Name in the registry, in commits and in `doc.format`. */
  readonly format: string;
  /** Grows when the parser's output for the same bytes changes: part of the fingerprint. */
  readonly version: number;
  /** Name for people, as in docs/formats.md. */
  readonly title: string;
  /** In lower case, without the dot. */
  readonly extensions: readonly string[];
  /** How the format is recognised by content, in words. */
  readonly content: string;
  /** What is read and what is not, in words. */
  readonly reads: string;
}

/** Reads files found inside others: the registry, as far as parsers know it. */
export interface ChildParser {
  /** The format of a file, undefined when none reads it. */
  detect(bytes: Uint8Array, name: string): string | undefined;
  parse: Parser['parse'];
}

export interface FormatEntry extends FormatInfo {
  /** Recognises a file by its beginning, byte for byte as Latin-1: asked before its name counts. */
  readonly recognises?: (head: string) => boolean;
  /** No file of it has 0 bytes: such a file is a copy that has begun, or that failed. */
  readonly neverEmpty?: true;
  /** It is a zip archive with parts whose names begin like these. One without its directory is corrupt. */
  readonly parts?: readonly string[];
  /**
   * Parsers are loaded when first needed: some bring megabytes of code. `children` reads files found inside one of this format.
   */
  readonly load: (children: ChildParser) => Promise<Parser['parse']>;
}
