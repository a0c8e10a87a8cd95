import { type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import { z } from 'zod';
import { appendElements } from '../append-document.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import type { ChildParser } from '../format-entry.js';
import { breathe } from '../limits.js';

/** A text in one piece or in lines. */
const textSchema = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(''))]);
const outputSchema = z.object({
  text: textSchema.optional(),
  data: z.object({ 'text/plain': textSchema.optional() }).optional(),
});
const cellSchema = z.object({
  cell_type: z.string(),
  source: textSchema.default(''),
  outputs: z.array(outputSchema.catch({})).default([]),
});
const languageSchema = z.object({ name: z.string().optional() }).optional();
const notebookSchema = z.object({
  cells: z.array(cellSchema).optional(),
  /** Notebooks of version 3 have sheets. */
  worksheets: z.array(z.object({ cells: z.array(cellSchema.extend({ input: textSchema.optional() })) })).optional(),
  metadata: z.object({ language_info: languageSchema, title: z.string().optional() }).default({}),
});

/** Printed text beyond this length (UTF-16 units) is a log, not a result. */
const MAX_OUTPUT = 4_000;

/** Jupyter notebooks (nbformat 3 and 4). */
export function createIpynbParser(children: ChildParser): (input: ParseInput) => Promise<ParsedDocument> {
  return async (input) => {
    const decoded = decodeBytes(input.bytes);
    const notebook = notebookSchema.safeParse(jsonOf(decoded.text, input.name));
    if (!notebook.success) throw new SluiceError('corrupt', `${input.name} is no notebook`, { cause: notebook.error });
    const { cells, worksheets = [], metadata } = notebook.data;
    const lang = metadata.language_info?.name ?? 'python';
    const builder = createDocumentBuilder(input.limits);
    const all =
      cells ??
      worksheets.flatMap((sheet) =>
        sheet.cells.map(({ input: code, ...cell }) => ({ ...cell, source: cell.source || (code ?? '') })),
      );
    for (const cell of all) {
      await breathe(input);
      if (cell.cell_type === 'markdown' || cell.cell_type === 'heading') {
        const bytes = new TextEncoder().encode(cell.source);
        appendElements(builder, await children.parse({ ...input, bytes, name: 'cell.md' }));
      } else if (cell.cell_type === 'code') builder.code(cell.source, { lang });
      else builder.paragraph(cell.source);
      for (const output of cell.outputs) {
        const text = output.text ?? output.data?.['text/plain'] ?? '';
        builder.code(text.length > MAX_OUTPUT ? `${text.slice(0, MAX_OUTPUT)} …` : text);
      }
    }
    const about = metadata.title === undefined ? {} : { doc_title: metadata.title };
    return finishBuilt('ipynb', builder, { metadata: about, warnings: decoded.warnings, titleFromHeading: true });
  };
}

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SluiceError('corrupt', `${name} is no valid JSON`, { cause: error });
  }
}
