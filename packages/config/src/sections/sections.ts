import { evalSchema } from '@sluice/evaluation/settings';
import { schemaSettings } from '@sluice/metadata/settings';
import { embeddingSchema, rerankSchema } from '@sluice/models/settings';
import { limitsSchema } from '@sluice/parsers/settings';
import { queueSchema } from '@sluice/queues/settings';
import { searchSchema } from '@sluice/retrieval/settings';
import { storeSchema } from '@sluice/store/settings';
import { z } from 'zod';
import { apiSchema } from './api.js';
import { llmSchema } from './llm.js';
import { createSourceSchema } from './source.js';

/** The whole of sluice.yaml, section by section. */
export const SECTIONS = {
  sources: z.array(createSourceSchema()),
  schema: schemaSettings,
  limits: limitsSchema,
  queue: queueSchema,
  embedding: embeddingSchema,
  search: searchSchema,
  rerank: rerankSchema,
  llm: llmSchema,
  store: storeSchema,
  api: apiSchema,
  eval: evalSchema,
} as const;

export type SectionName = keyof typeof SECTIONS;

/** What a section holds once checked, defaults applied. */
export type Section<Name extends SectionName> = z.output<(typeof SECTIONS)[Name]>;

export const documentSchema = z.strictObject(SECTIONS);
