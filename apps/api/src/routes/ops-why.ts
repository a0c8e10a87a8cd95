import { makeDocId, SluiceError } from '@sluice/core';
import { z } from 'zod';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import { findDocument } from '../documents/find.js';
import { documentSchema } from '../schemas/documents.js';
import { problems } from '../schemas/problem.js';

const answer = z.object({
  path: z.string(),
  doc_id: z.string().optional(),
  ignored: z.object({ rule: z.string(), from: z.string() }).optional(),
  document: documentSchema.optional(),
  access: z.object({ security_level: z.int(), allowed_groups: z.array(z.string()).optional() }).optional(),
  origins: z.record(z.string(), z.string()).describe('Who said each field of the metadata; `document` where nobody else did.'),
  note: z.string().optional(),
});

/** Tells why a file is, or is not, found by queries. */
export function whyRoute(app: App, deps: ApiDeps): void {
  app.get(
    '/ops/api/why',
    {
      schema: {
        tags: ['operators'],
        summary: 'Why a file is or is not found',
        querystring: z.strictObject({
          path: z.string().min(1).max(4096).describe('Absolute path on this machine.'),
        }),
        response: { 200: answer, ...problems() },
      },
    },
    async ({ query: { path }, caller }) => {
      const found = await deps.explain(path);
      const { ignored, note } = found;
      const docId = found.source === undefined || found.path === undefined ? undefined : makeDocId(found.source, found.path);
      const document = docId === undefined ? undefined : await visibleDocument(deps, caller, docId);
      const metadata = document?.metadata ?? {};
      const level = metadata.security_level;
      const notes = [
        ...(note === undefined ? [] : [note]),
        ...(docId !== undefined && ignored === undefined && document === undefined
          ? ['no document that you may know of: not seen yet, or above your clearance']
          : []),
      ];
      return {
        path,
        ...(docId === undefined ? {} : { doc_id: docId }),
        ...(ignored === undefined ? {} : { ignored: { rule: `${ignored.rule}: ${ignored.pattern}`, from: placeOf(ignored) } }),
        ...(document === undefined ? {} : { document }),
        ...(typeof level === 'number'
          ? {
              access: {
                security_level: level,
                ...(Array.isArray(metadata.allowed_groups) ? { allowed_groups: metadata.allowed_groups.map(String) } : {}),
              },
            }
          : {}),
        origins: document === undefined ? {} : found.origins,
        ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
      };
    },
  );
}

function placeOf({ rule, file, line, path }: NonNullable<Awaited<ReturnType<ApiDeps['explain']>>['ignored']>): string {
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return rule === 'include' || rule === 'exclude' ? `the configuration, by ${path}` : `built in, by ${path}`;
}

async function visibleDocument(deps: ApiDeps, caller: Parameters<typeof findDocument>[1], docId: string) {
  try {
    return await findDocument(deps, caller, docId);
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') return undefined;
    throw error;
  }
}
