import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type ParsedDocument, type ParseLimits, SluiceError } from '@sluice/core';

/** Parses a file in this process, within the limits. Errors have the document reasons as codes. */
export async function parseFile(cwd: string, file: string, limits: ParseLimits): Promise<ParsedDocument> {
  const path = resolve(cwd, file);
  const info = await stat(path).catch((cause: unknown) => {
    throw new SluiceError('unreadable', `${file} can't be read: ${messageOf(cause)}`, { cause });
  });
  if (!info.isFile()) throw new SluiceError('unreadable', `${file} is no file`);
  if (info.size > limits.fileBytes) {
    throw new SluiceError('too_large', `${file} is larger than limits.file_mb allows; raise the limit or split the file`);
  }
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new SluiceError('unreadable', `${file} can't be read: ${messageOf(cause)}`, { cause });
  });
  const { createParserRegistry } = await import('@sluice/parsers');
  return createParserRegistry().parse({
    bytes,
    name: basename(path),
    limits,
    signal: AbortSignal.timeout(limits.parseMs),
  });
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
