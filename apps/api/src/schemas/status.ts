import { z } from 'zod';

export const countsSchema = z.object({
  indexed: z.int().describe('Documents whose newest state answers queries.'),
  pending: z.int().describe('Documents that a job waits or runs for.'),
  empty: z.int().describe('Documents without anything to index.'),
  failed: z.int().describe('Documents that could not be ingested.'),
  skipped: z.int().describe('Documents left out by type or size.'),
});

const serviceSchema = z.object({ url: z.string(), state: z.enum(['up', 'down']) });

export const statusAnswer = z
  .object({
    state: z.enum(['idle', 'working']),
    version: z.string(),
    processes: z.array(z.object({ role: z.string(), pid: z.int(), restarts: z.int() })),
    standing_workers: z
      .array(z.object({ host: z.string(), pid: z.int(), seconds: z.int() }))
      .optional()
      .describe('Workers that are connected, but have done nothing at all for 15 s or more.'),
    services: z.object({ redis: serviceSchema, weaviate: serviceSchema, api: serviceSchema }),
    sources: z.array(
      z.object({
        name: z.string(),
        path: z.string(),
        configured: z.boolean(),
        reachable: z.boolean(),
        deletes_suspended: z.boolean(),
        documents: countsSchema,
        scanned: z.int().describe('The highest scan request that a finished scan has answered.'),
      }),
    ),
    queues: z.record(z.string(), z.record(z.string(), z.int())),
    paused: z.boolean(),
    dead_letters: z.int(),
  })
  .meta({ id: 'Status' });
