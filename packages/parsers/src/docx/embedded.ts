import { type ParsedDocument, type ParseInput, SluiceError } from '@sluice/core';
import type { ChildParser } from '../format-entry.js';
import type { OfficePackage } from '../office/package.js';
import { readEntry } from '../zip/zip-archive.js';

/** What a document within a document takes from the nesting that is allowed. */
const DEPTH = 25;

/** A document that another program left in place of the body (`altChunk`): HTML, MHTML, text, RTF or Word. */
export async function readEmbedded(
  input: ParseInput,
  office: OfficePackage,
  children: ChildParser,
  part: string | undefined,
): Promise<{ document?: ParsedDocument; warnings: string[] }> {
  const bytes = part === undefined ? undefined : await readEntry(office.archive, part);
  if (part === undefined || bytes === undefined) return { warnings: ['part_missing: a document embedded as altChunk'] };
  const { limits } = input;
  const depth = limits.depth - DEPTH;
  try {
    if (depth <= 0) throw new SluiceError('limit_exceeded', 'documents are nested deeper than limits.depth allows');
    const name = part.slice(part.lastIndexOf('/') + 1);
    const document = await children.parse({
      ...input,
      name,
      bytes,
      limits: { ...limits, depth },
    });
    return { document, warnings: document.warnings };
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code === 'parse_timeout' || error.code === 'internal') throw error;
    return { warnings: [`part_not_read: a document embedded as altChunk (${error.code})`] };
  }
}
