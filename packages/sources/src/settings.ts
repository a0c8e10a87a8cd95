import { globSchema } from '@sluice/metadata/settings';
import { z } from 'zod';

/** What a source's entry of sluice.yaml says about listing and watching its folder. Metadata, chunking and rules are other packages' parts. */
export const sourceSchema = z.strictObject({
  /** Prefix of doc_ids; no slash, so that a doc_id parts in two at its first one. */
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1-64 of a-z, 0-9, _ and -, beginning with a letter or digit'),
  path: z.string().min(1),
  /** Globs relative to the root, with forward slashes. A name without wildcards includes a whole folder. */
  include: z.array(globSchema).min(1).default(['**/*']),
  /** Globs; one that matches a folder excludes all it holds. */
  exclude: z.array(globSchema).default([]),
  /** `auto` polls on network and shared file systems, which send no events of other machines. */
  polling: z.union([z.literal('auto'), z.boolean()]).default('auto'),
  /** Milliseconds for which a file's size, mtime, ctime and inode stay still before it is read. */
  stability_ms: z.int().min(0).max(600_000).default(300),
  scan_interval_s: z.number().min(1).max(86_400).default(300),
});

export type SourceSettings = z.infer<typeof sourceSchema>;
