import type { InstanceGenerations } from '@sluice/config';
import { followingGenerations, type Generation } from '@sluice/models';
import { type Control, createControl, createReconcileQueue, type createRedis, type ReconcileJobs } from '@sluice/queues';
import type { Logger } from '@sluice/telemetry';

export interface OtherIndexesDeps {
  /** Prefix of the instance's keys in Redis. */
  namespace: string;
  /** Of their jobs. */
  settings: { attempts: number; backoffMs: number };
  generations: Pick<InstanceGenerations, 'read'>;
  /** The index that answers, which is left out. */
  live: Generation;
  redis: ReturnType<typeof createRedis>;
  logger: Logger;
}

/** The indexes that follow the disk beside the one that answers: the one being built, and the one before. */
export interface OtherIndexes {
  /**
   * Asks each of them what an operator asks of the index that answers. Without that a document, or a folder that had to be accepted,
   * would keep a new model from ever becoming live. The answer does not depend on them: what fails is a warning in the log.
   */
  each(ask: (index: { queue: ReconcileJobs; control: Control }) => Promise<unknown>): Promise<void>;
}

export function createOtherIndexes({
  namespace: instance,
  settings,
  generations,
  live,
  redis,
  logger,
}: OtherIndexesDeps): OtherIndexes {
  return {
    async each(ask) {
      try {
        const { state } = await generations.read();
        for (const { collection, queue: suffix } of followingGenerations(state)) {
          if (collection === live.collection) continue;
          const namespace = instance + suffix;
          const queue = createReconcileQueue({ redis, namespace, settings, logger });
          await ask({ queue, control: createControl({ redis, namespace }) }).finally(() => queue.close());
        }
      } catch (error) {
        logger.warn({ err: error }, 'what was asked of the live index could not be asked of the one beside it');
      }
    },
  };
}
