import type { Chunk, ParsedDocument, Tokenizer } from '@sluice/core';
import { expect } from 'vitest';

export interface LawOptions {
  tokenizer: Tokenizer;
  /** Tokens of what is embedded, special tokens included. */
  maxTokens?: number;
  /** UTF-16 units of a chunk's text. */
  maxChars?: number;
  overlaps?: boolean;
  /** Where the body begins, behind front matter. */
  bodyStart?: number;
}

/** Without the u flag halves of pairs are seen. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** What holds for the chunks of every strategy. */
export function expectLaws(document: ParsedDocument, chunks: readonly Chunk[], options: LawOptions): void {
  const source = document.text;
  const limit = Math.min(options.tokenizer.maxTokens, options.maxTokens ?? options.tokenizer.maxTokens);
  const edges = graphemeEdges(source, (grapheme) => options.tokenizer.count(grapheme) > limit);
  let previous: Chunk | undefined;
  let covered = options.bodyStart ?? 0;
  for (const [index, chunk] of chunks.entries()) {
    const where = `chunk ${index} of ${JSON.stringify(source.slice(0, 200))}: ${JSON.stringify(chunk)}`;
    expect(chunk.index, where).toBe(index);
    expect(chunk.text.trim(), where).not.toBe('');
    expect(chunk.start, where).toBeLessThan(chunk.end);
    if (!chunk.derived) expect(chunk.text, where).toBe(chunk.prefix + source.slice(chunk.start, chunk.end));
    expect(LONE_SURROGATE.test(chunk.text), where).toBe(false);
    const embedded = chunk.embeddingText ?? chunk.text;
    expect(chunk.embeddingText, where).not.toBe(chunk.text);
    expect(chunk.tokens, where).toBe(options.tokenizer.count(embedded));
    if (chunk.tokens > limit) expect(graphemeCount(chunk.text), where).toBe(1);
    if (options.maxChars !== undefined && chunk.text.length > options.maxChars) expect(graphemeCount(chunk.text), where).toBe(1);
    if (!chunk.derived) {
      expect(edges(chunk.start), `${where} starts within a grapheme`).toBe(true);
      expect(edges(chunk.end), `${where} ends within a grapheme`).toBe(true);
    }
    if (previous !== undefined) {
      if (options.overlaps === true) {
        expect(chunk.start, where).toBeGreaterThan(previous.start);
        expect(chunk.end, where).toBeGreaterThan(previous.end);
      } else if (!chunk.derived && !previous.derived) {
        expect(chunk.start, where).toBeGreaterThanOrEqual(previous.end);
      } else {
        expect(chunk.start, where).toBeGreaterThanOrEqual(previous.start);
      }
    }
    expect(source.slice(covered, Math.max(covered, chunk.start)).trim(), `left out before ${where}`).toBe('');
    covered = Math.max(covered, chunk.end);
    previous = chunk;
  }
  expect(source.slice(covered).trim(), 'left out at the end').toBe('');
}

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

function graphemeCount(text: string): number {
  return [...segmenter.segment(text)].length;
}

/** Whether a chunk may begin or end at `at`: within a grapheme only where no chunk holds it whole. */
function graphemeEdges(text: string, tooLong: (grapheme: string) => boolean): (at: number) => boolean {
  const segments = segmenter.segment(text);
  return (at) => {
    if (at === 0 || at === text.length) return true;
    const found = segments.containing(at);
    return found?.index === at || (found !== undefined && tooLong(found.segment));
  };
}
