import { type Caller, type CommitRecord, splitDocId } from '@sluice/core';
import { mayAccess } from '@sluice/metadata';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { mayKnow } from '../documents/state.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';

const KINDS = [
  'missing_document',
  'stale_document',
  'unexpected_document',
  'missing_chunk',
  'orphan_chunk',
  'duplicate_chunk',
  'wrong_metadata',
] as const;

const answer = z
  .object({
    differences: z.int(),
    by_kind: z.object(Object.fromEntries(KINDS.map((kind) => [kind, z.int()])) as Record<(typeof KINDS)[number], z.ZodInt>),
    failed_serving_old: z.int(),
    in_grace: z.int(),
    in_flight: z.int().describe('Documents that differ while a job of theirs waits or runs.'),
    unreachable_sources: z.array(z.string()),
    unreadable_paths: z.int().describe('Files and folders within sources that could not be read; what is known of them is kept.'),
    repaired: z.int().optional(),
    checked: z.object({ files: z.int(), documents: z.int(), chunks: z.int() }),
    examples: z.array(z.object({ kind: z.string(), doc_id: z.string() })),
  })
  .meta({ id: 'VerifyReport' });

/** Compares disk, documents and chunks. Safe while the system runs; takes as long as a walk over everything. */
export function verifyRoute(app: HttpApp, deps: ApiDeps): void {
  app.post(
    '/ops/api/verify',
    {
      schema: {
        tags: ['operators'],
        summary: 'Compare disk, documents and chunks',
        description: 'The numbers are those of the whole store; `examples` name what the caller may know of.',
        body: z.strictObject({ repair: z.boolean().default(false) }),
        response: { 200: answer, ...problems() },
      },
    },
    ({ body: { repair }, caller }) =>
      deps.verify({ repair, mayName: ({ docId, records }) => mayName(deps, caller, docId, records) }),
  );
}

function mayName(
  { configuredAccess }: Pick<ApiDeps, 'configuredAccess'>,
  caller: Caller,
  docId: string,
  records: readonly CommitRecord[],
): boolean {
  if (records.length > 0) return mayKnow(caller, records);
  const { source, sourcePath } = splitDocId(docId);
  return mayAccess(caller, configuredAccess(source, sourcePath));
}
