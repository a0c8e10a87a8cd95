import { z } from 'zod';

/** Fields that many answers have, each described once. */
export const docIdField = z.string().describe('`<source>/<path>`, as long as the file keeps its path.');
export const uuidField = z.string().describe('UUID of the document; works wherever a doc_id does.');
export const sourceField = z.string().describe('Name of the source, the watched folder, that holds the document.');
export const sourcePathField = z.string().describe('Path within the source, with `/` between folders.');
export const revisionField = z
  .string()
  .describe('Names one committed state of the document. It changes only when content, chunks or metadata do.');
export const chunkIdField = z.string().describe('UUID of the chunk.');
export const titleField = z.string().describe('`doc_title` of the metadata, else the name of the file.');
export const metadataField = z
  .record(z.string(), z.unknown())
  .describe('Metadata by field, the built-in ones and the declared ones: `GET /v1/schema` lists them.');
export const headingsField = z.array(z.string()).describe('Headings above the text, the outermost first.');
export const pageStartField = z.int().describe('First page of the text, from 1; absent in documents without pages.');
export const pageEndField = z.int().describe('Last page of the text, from 1; absent in documents without pages.');
export const startField = z.int().describe('Where the text begins in the parsed text of the document, in UTF-16 units from 0.');
export const endField = z
  .int()
  .describe('Where the text ends in the parsed text, in UTF-16 units; the unit there is no part of it.');
export const nextCursorField = z
  .string()
  .optional()
  .describe('What `cursor` of the next request takes; absent on the last page.');

/** A span of `of`. */
export function spanOf(of: string) {
  return z.object({
    start: z.int().describe(`First UTF-16 unit in ${of}, from 0.`),
    end: z.int().describe(`UTF-16 unit in ${of} behind the last.`),
  });
}
