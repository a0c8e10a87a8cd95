import { createChunkingSchema } from '@sluice/chunking/settings';
import { fieldsSchema, globSchema } from '@sluice/metadata/settings';
import { parserSettingsSchema } from '@sluice/parsers/settings';
import { sourceSchema } from '@sluice/sources/settings';
import { z } from 'zod';

/** Metadata as written; checked against the declared fields when the whole file is known. */
const metadataSchema = z.record(z.string(), z.unknown());

const globsSchema = z.union([globSchema.transform((glob) => [glob]), z.array(globSchema).min(1)], {
  error: 'expected a glob or a list of globs',
});

/**
 * One entry of `sources`: what the sources package says of folders, with metadata, chunking, parsing and rules.
 *
 * @param modelTokens what the embedding model takes, special tokens included. Default: that of the default model
 */
export function createSourceSchema(modelTokens?: number) {
  const chunkingSchema = createChunkingSchema(modelTokens);
  const ruleSchema = z.strictObject({
    match: globsSchema,
    metadata: metadataSchema.optional(),
    chunking: chunkingSchema.optional(),
  });
  return z.strictObject({
    ...sourceSchema.shape,
    chunking: chunkingSchema.prefault({}),
    /** `mtime`: a document that no one dates takes its file's mtime, which rewrites its chunks at each save. */
    created_at: z.literal('mtime').optional(),
    metadata: metadataSchema.default({}),
    fields: fieldsSchema.default({}),
    /** Environment variable that holds the passwords of encrypted files: one a line, or a JSON list. */
    passwords: z
      .strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable') })
      .optional(),
    /** Settings of single formats. */
    parsers: parserSettingsSchema.prefault({}),
    rules: z.array(ruleSchema).default([]),
  });
}
