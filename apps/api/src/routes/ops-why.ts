import { type Caller, makeDocId, SluiceError } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { mayKnowOf } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findDocument } from '../documents/find.js';
import type { Explanation } from '../explain.js';
import type { HttpApp } from '../http-app.js';
import { documentSchema } from '../schemas/documents.js';
import { docIdField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

const answer = z.object({
  path: z.string().describe('The path that was asked for.'),
  doc_id: docIdField.optional(),
  ignored: z
    .object({
      rule: z.string().describe('Kind of the rule, and its pattern.'),
      from: z.string().describe('Where the rule stands: a file with its line, the configuration, or built in.'),
    })
    .optional()
    .describe('The rule by which the file is left out; absent when none does.'),
  document: documentSchema.optional(),
  access: z
    .object({
      security_level: z.int().describe('Clearance that it takes to see the document, 1 to 5.'),
      allowed_groups: z.array(z.string()).optional().describe('Groups one of which it takes; absent: clearance alone decides.'),
    })
    .optional()
    .describe('Who may see the document.'),
  origins: z.record(z.string(), z.string()).describe('Who said each field of the metadata; `document` where nobody else did.'),
  note: z.string().optional().describe('Why there is no document, or none that you may know of.'),
});

/** Tells why a file is, or is not, found by queries. */
export function whyRoute(app: HttpApp, deps: ApiDeps): void {
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
      const isOutside = found.source === undefined || !mayReach(caller, found.source);
      // Where other sources are is not for a key that is limited to some.
      if (caller.sources !== undefined && isOutside) return { path, origins: {}, note: 'lies in no source of this key' };
      const { ignored, note } = found;
      const docId = found.source === undefined || found.path === undefined ? undefined : makeDocId(found.source, found.path);
      const document = docId === undefined ? undefined : await visibleDocument(deps, caller, docId);
      const metadata = document?.metadata ?? {};
      const level = metadata.security_level;
      const notes = note === undefined ? [] : [note];
      if (found.source !== undefined && found.path !== undefined && ignored === undefined && document === undefined) {
        const { source: docSource } = found;
        const configured = deps.configuredAccess(docSource, found.path);
        // Whether a file is there is not for those either who may see none at that path.
        const own = await deps.accessOfNewFile(docSource, found.path);
        if (![configured, own].every((access) => mayKnowOf(caller, docSource, access))) notes.length = 0;
        notes.push(unknownTo(caller, docSource, configured));
      }
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
        origins: document === undefined ? {} : originsOf(found, document.metadata),
        ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
      };
    },
  );
}

function placeOf({ rule, file, line, path }: NonNullable<Awaited<ReturnType<ApiDeps['explain']>>['ignored']>): string {
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return rule === 'include' || rule === 'exclude' ? `the configuration, by ${path}` : `built in, by ${path}`;
}

/** Why a caller is shown no document, without telling whether there is one that they may not know of. */
function unknownTo(caller: Caller, source: string, configured: ReturnType<ApiDeps['configuredAccess']>): string {
  const level = configured.security_level;
  const own = `yours (${caller.clearance})`;
  if (level > caller.clearance) return `above your clearance: the configuration puts it at level ${level}, and ${own} is less`;
  if (!mayKnowOf(caller, source, configured))
    return `above your clearance: the configuration gives it to ${groupsOf(configured)} alone`;
  const more =
    caller.clearance === 5
      ? ''
      : `, or above your clearance: its own metadata may say so, or be unreadable, while ${own} is less than 5`;
  return `no document that you may know of: not seen yet${more}`;
}

function groupsOf({ allowed_groups: groups = [] }: ReturnType<ApiDeps['configuredAccess']>): string {
  return groups.length === 0 ? 'operators of clearance 5' : groups.join(', ');
}

/** The file's name is the title only where the document has none of its own, which is known once it was read. */
function originsOf({ origins, path = '' }: Explanation, { doc_title: title }: Record<string, unknown>): Record<string, string> {
  const isOwn = origins.doc_title === 'file name' && title !== path.slice(path.lastIndexOf('/') + 1);
  return isOwn ? { ...origins, doc_title: 'document' } : origins;
}

async function visibleDocument(deps: ApiDeps, caller: Parameters<typeof findDocument>[1], docId: string) {
  try {
    return await findDocument(deps, caller, docId);
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') return undefined;
    throw error;
  }
}
