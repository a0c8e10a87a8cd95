import type { DocumentBuilder } from '../document-builder.js';
import type { Block } from './blocks.js';
import { isBroken, type Vocabulary } from './hyphens.js';
import type { Region } from './regions.js';

/** Writes blocks; a paragraph that runs on over a column or page is put together. */
export interface BlockWriter {
  block(block: Block, page: number): void;
  /** Text that stands apart, as in the margin: written where it does not cut a paragraph in two. */
  aside(text: string, page: number): void;
  table(table: Extract<Region, { kind: 'table' }>, page: number): void;
  close(): void;
}

const OPEN_END = /[\p{L}\p{N},–—&-]$/u;
const RUNS_ON = /^[\p{Ll}(]/u;
const CJK = /[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;

export function createBlockWriter(builder: DocumentBuilder, vocabulary: Vocabulary): BlockWriter {
  let asides: { text: string; page: number }[] = [];
  let pending: { text: string; page: number; continues: boolean } | undefined;

  function flush(): void {
    if (pending !== undefined) builder.paragraph(pending.text, { page: pending.page, continues: pending.continues });
    pending = undefined;
    for (const { text, page } of asides) builder.paragraph(text, { page });
    asides = [];
  }

  function join(lines: readonly string[]): string {
    return lines.reduce((text, line) => joinLines(text, line, vocabulary), '');
  }

  function paragraph(text: string, page: number): void {
    if (pending !== undefined && runsOn(pending.text, text)) {
      if (pending.page === page) {
        pending.text = joinLines(pending.text, text, vocabulary);
        return;
      }
      // A page's text is cited by its page: the paragraph is cut there, a word that the page breaks stays whole on the first.
      let rest = text;
      if (isBroken(pending.text, text)) {
        const tail = /^\S+/.exec(text)?.[0] ?? '';
        pending.text = vocabulary.join(pending.text, tail);
        rest = text.slice(tail.length).trim();
      }
      flush();
      if (rest !== '') pending = { text: rest, page, continues: true };
      return;
    }
    flush();
    pending = { text, page, continues: false };
  }

  return {
    block(block, page) {
      if (block.kind === 'paragraph') {
        paragraph(join(block.lines), page);
        return;
      }
      flush();
      if (block.kind === 'heading') builder.heading(block.level, join(block.lines), { page });
      else if (block.kind === 'caption') builder.block('caption', join(block.lines), { page });
      else if (block.kind === 'code') builder.code(block.text, { page });
      else
        builder.list(
          block.items.map(({ marker, lines }) => ({ marker, text: join(lines), depth: 0 })),
          { page },
        );
    },
    aside(text, page) {
      asides.push({ text, page });
    },
    table({ rows }, page) {
      flush();
      builder.table(rows, { page });
    },
    close: flush,
  };
}

function runsOn(before: string, after: string): boolean {
  if (isBroken(before, after)) return true;
  if (CJK.test(before.at(-1) ?? '') && CJK.test(after.charAt(0)))
    return !/[。！？：；」』）]$/.test(before) && before.length > 20;
  return OPEN_END.test(before) && RUNS_ON.test(after) && before.length > 20;
}

/** Two lines of one text: a broken word is put together, scripts without spaces get none. */
function joinLines(before: string, after: string, vocabulary: Vocabulary): string {
  if (before === '') return after;
  if (isBroken(before, after)) return vocabulary.join(before, after);
  const noSpace = CJK.test(before.at(-1) ?? '') && CJK.test(after.charAt(0));
  return noSpace ? before + after : `${before} ${after}`;
}
