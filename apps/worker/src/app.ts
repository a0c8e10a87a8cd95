import { type ReconcileRequest, SluiceError } from '@sluice/core';
import {
  createAuditLoop,
  createReconciler,
  createSweeper,
  type IngestionDeps,
  type ReconcileOutcome,
  withSharedRequests,
} from '@sluice/ingestion';

/** What a job tells its handler beside the request. */
interface JobContext {
  /** True when a transient fault must become the document's failure: no further attempt follows. */
  isLastAttempt: boolean;
  /** Times that a worker died while it worked on this document. */
  crashes: number;
  /** Unix milliseconds at which the last of those began. */
  crashedMs: number;
  signal: AbortSignal;
  progress(share: number): void;
}

export interface WorkerDeps extends Omit<IngestionDeps, 'onSuperseded'> {
  /** Times a worker may die over one document before it becomes a dead letter. Default 3. */
  maxCrashes?: number;
  pending(docUuids: readonly string[]): Promise<ReadonlySet<string>>;
  freeStuckKeys(): Promise<number>;
}

export interface WorkerApp {
  /** Runs one job. Throws what the queue shall retry or show as failed. */
  handle(request: ReconcileRequest, context: JobContext): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** While jobs run, metrics are written at most this often, ms. */
const FLUSH_MS = 500;
/** And at least this often, ms: an idle worker shows that it lives, and what its last audit found. */
const BEAT_MS = 5_000;

/** Wires the writer, the sweep and the audit together. The queue's worker calls `handle`. */
export function createWorkerApp(deps: WorkerDeps): WorkerApp {
  const { clock, logger, metrics } = deps;
  let running = 0;
  const ingestion: IngestionDeps = {
    ...deps,
    store: withSharedRequests(deps.store, { clock, running: () => running }),
    onSuperseded: (record) => sweeper.note(record),
  };
  const reconciler = createReconciler(ingestion);
  const sweeper = createSweeper(ingestion, reconciler);
  const audit = createAuditLoop({ ...ingestion, reconciler, sweeper, pending: deps.pending, freeStuckKeys: deps.freeStuckKeys });
  let flushed = clock.monotonic();
  let flushing: NodeJS.Timeout | undefined;
  let beating: NodeJS.Timeout | undefined;

  const isPoison = ({ crashes }: JobContext) => crashes >= (deps.maxCrashes ?? 3);

  async function flush(): Promise<void> {
    clearTimeout(flushing);
    flushing = undefined;
    flushed = clock.monotonic();
    await metrics.flush().catch((cause: unknown) => logger.warn({ cause: String(cause) }, 'metrics could not be written'));
  }

  function flushSoon(): void {
    flushing ??= setTimeout(flush, Math.max(0, FLUSH_MS - (clock.monotonic() - flushed)));
  }

  return {
    async handle(request, context) {
      const began = clock.monotonic();
      const docId = `${request.source}/${request.path}`;
      running += 1;
      try {
        const options = {
          signal: context.signal,
          lastAttempt: context.isLastAttempt,
          recommit: request.force !== undefined,
          rebuild: request.force === 'rebuild',
          onProgress: context.progress,
        };
        const poison = isPoison(context) ? poisonError(docId, context.crashes) : undefined;
        const outcome =
          poison === undefined
            ? await reconciler.reconcile(request, options)
            : await reconciler.fail(request, poison, { ...options, unlessChangedSinceMs: context.crashedMs });
        report(deps, docId, outcome, (clock.monotonic() - began) / 1000);
        if (outcome.outcome === 'failed') throw outcome.error;
      } finally {
        running -= 1;
        // The last job before a pause ends with its counts written, so that an idle instance shows all that was done.
        if (running === 0) await flush();
        else flushSoon();
      }
    },
    start() {
      sweeper.start();
      audit.start();
      flushSoon();
      beating = setInterval(flushSoon, BEAT_MS);
    },
    async stop() {
      clearInterval(beating);
      await Promise.all([audit.stop(), sweeper.stop()]);
      clearTimeout(flushing);
      await metrics.flush();
    },
  };
}

/** One line a document, which the supervisor shows; and the count by outcome. */
function report(
  { logger, metrics }: Pick<WorkerDeps, 'logger' | 'metrics'>,
  docId: string,
  outcome: ReconcileOutcome,
  seconds: number,
): void {
  metrics.reconciles.inc({ outcome: outcome.outcome });
  const common = { doc_id: docId, status: outcome.outcome, seconds: Number(seconds.toFixed(3)) };
  switch (outcome.outcome) {
    case 'indexed':
    case 'empty':
      logger.info({ ...common, chunks: outcome.chunks, computed: outcome.computed, reused: outcome.reused }, 'document');
      break;
    case 'failed':
    case 'skipped':
      logger.info({ ...common, reason: outcome.reason, message: outcome.message }, 'document');
      break;
    case 'deleted':
    case 'suspended':
      logger.info(common, 'document');
      break;
    case 'unchanged':
    case 'unknown_source':
      logger.debug(common, 'document');
      break;
  }
}

/** A document over which workers died again and again. */
function poisonError(docId: string, crashes: number): SluiceError {
  return new SluiceError(
    'internal',
    `${docId}: a worker died ${crashes} times over this document; it is left out until it changes`,
    { docId, kind: 'permanent' },
  );
}
