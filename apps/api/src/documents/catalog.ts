import type { Caller } from '@sluice/core';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { countsSchema } from '../schemas/status.js';
import type { Counter } from './counts.js';

export const sourceSchema = z.object({
  name: z.string().describe('Name of the source.'),
  configured: z.boolean().describe('False for a source that left the configuration; its documents stay until it is removed.'),
  documents: countsSchema.describe('Numbers of documents that you may know of, by status.'),
});

export const fieldSchema = z.object({
  name: z.string().describe('Name of the field, as filters and facets take it.'),
  type: z.enum(['text', 'int', 'number', 'date', 'boolean']).describe('Type of its values.'),
  list: z.boolean().describe('True for a field that holds several values: a condition asks whether one of them fits.'),
});

/** Sources with the counts of the documents that the caller may know of. */
export async function listSources(
  deps: Pick<ApiDeps, 'sources'>,
  counter: Counter,
  caller: Caller,
): Promise<z.infer<typeof sourceSchema>[]> {
  const { sources } = await counter.count(caller);
  const configured = new Set(deps.sources.map(({ name }) => name));
  return [...sources].map(([name, documents]) => ({ name, configured: configured.has(name), documents }));
}

/** What filters can be made of. */
export function listFields({ catalog }: Pick<ApiDeps, 'catalog'>): z.infer<typeof fieldSchema>[] {
  return [...catalog].map(([name, { type, list }]) => ({ name, type, list }));
}
