import { z } from 'zod';

export const countsSchema = z.object({
  indexed: z.int().describe('Documents whose newest state answers queries.'),
  pending: z.int().describe('Documents that a job waits or runs for.'),
  empty: z.int().describe('Documents without anything to index.'),
  failed: z.int().describe('Documents that could not be ingested.'),
  skipped: z.int().describe('Documents left out by type or size.'),
});

const serviceSchema = z.object({
  url: z.string().describe('Address of the service, without its password.'),
  state: z.enum(['up', 'down']).describe('`up` where it answers.'),
});

export const statusAnswer = z
  .object({
    state: z.enum(['idle', 'working']).describe('`idle` while no job waits, runs or is delayed.'),
    version: z.string().describe('Version of Sluice.'),
    processes: z
      .array(
        z.object({
          role: z.string().describe('What it does, as `watcher`, `worker` or `api`.'),
          pid: z.int().describe('Number of the process on its machine.'),
          restarts: z.int().describe('How often it was started again after it had died.'),
        }),
      )
      .describe('Processes of the instance on the machine of this API.'),
    standing_workers: z
      .array(
        z.object({
          host: z.string().describe('Name of its machine.'),
          pid: z.int().describe('Number of the process on that machine.'),
          seconds: z.int().describe('How long it has done nothing, in seconds.'),
        }),
      )
      .optional()
      .describe('Workers that are connected, but have done nothing at all for 15 s or more.'),
    services: z
      .object({
        redis: serviceSchema.describe('The queue.'),
        weaviate: serviceSchema.describe('The store.'),
        api: serviceSchema.describe('This API.'),
      })
      .describe('What the instance stands on.'),
    sources: z
      .array(
        z.object({
          name: z.string().describe('Name of the source.'),
          path: z.string().describe('Its folder; empty for a source that left the configuration.'),
          configured: z.boolean().describe('False for a source that left the configuration and has documents left.'),
          reachable: z.boolean().describe('False while its folder can not be read.'),
          deletes_suspended: z.boolean().describe('True while its folder is lost or another one: nothing of it is removed.'),
          documents: countsSchema.describe('Numbers of documents that you may know of, by status.'),
          scanned: z.int().describe('The highest scan request that a finished scan has answered.'),
        }),
      )
      .describe('The sources that your key opens.'),
    queues: z
      .record(z.string(), z.record(z.string(), z.int()))
      .describe('Numbers of jobs by queue and state; empty while Redis is away.'),
    paused: z.boolean().describe('True while an operator has stopped the taking of jobs.'),
    dead_letters: z.int().describe('Documents that could not be ingested, as far as you may know of them.'),
  })
  .meta({ id: 'Status' });
