import { mkdir, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of one process. Names are public (docs/metrics.md): never rename one. */
export interface Metrics {
  readonly registry: Registry;
  readonly embeddingsComputed: Counter;
  readonly embeddingsReused: Counter;
  /** Requests to an embedding endpoint by outcome: ok, rate_limited, refused, failed. */
  readonly embeddingRequests: Counter<'outcome'>;
  readonly embeddingTokens: Counter;
  /** In the currency of embedding.price_per_million_tokens. */
  readonly embeddingCost: Counter;
  /** Inserts into the store, every collection; not deletes. */
  readonly objectsWritten: Counter;
  readonly objectsDeleted: Counter;
  readonly filesScanned: Counter;
  /** Reconcile jobs by outcome: committed, unchanged, failed, deleted, retried. */
  readonly reconciles: Counter<'outcome'>;
  /** From the change on disk (ctime) until a search can find it. */
  readonly changeToSearchable: Histogram;
  readonly stageSeconds: Histogram<'stage'>;
  readonly drift: Gauge<'kind'>;
  /** Tokens that answers took from the language model: `prompt` and `completion`. */
  readonly llmTokens: Counter<'kind'>;
  /** Name of this process' snapshot in the folder; undefined without one. */
  readonly snapshot: string | undefined;
  /** Writes this process' values where the API adds them up. Cheap; at most one write at a time. */
  flush(): Promise<void>;
}

export interface MetricsOptions {
  role: string;
  /** Folder of the instance's snapshots; without one flush() does nothing. */
  folder?: string;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/**
 * Makes the metrics of a process. Each process writes a snapshot of its own into a folder of the instance, and keeps it there
 * after its end: so a total of the whole instance never falls when a process restarts.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name: `sluice_${name}`, help, registers });
  // In containers every process may have the same pid, and have had it before: host and time tell their snapshots apart.
  const name = `${options.role}-${hostname()}-${process.pid}-${Date.now()}.json`;
  const file = options.folder === undefined ? undefined : join(options.folder, name);
  let writing: Promise<void> | undefined;
  let again = false;

  async function write(path: string): Promise<void> {
    do {
      again = false;
      const metrics = await registry.getMetricsAsJSON();
      const snapshot = { role: options.role, host: hostname(), pid: process.pid, at: Date.now(), metrics };
      await writeInto(options.folder as string, `${path}.tmp`, JSON.stringify(snapshot));
      await rename(`${path}.tmp`, path);
    } while (again);
  }

  return {
    registry,
    embeddingsComputed: counter('embeddings_computed_total', 'Texts run through the embedding model by ingestion.'),
    embeddingsReused: counter('embeddings_reused_total', 'Vectors copied from stored chunks instead of computed.'),
    embeddingRequests: new Counter({
      name: 'sluice_embedding_requests_total',
      help: 'Requests to the embedding endpoint by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    embeddingTokens: counter('embedding_tokens_total', 'Tokens that an embedding endpoint has read.'),
    embeddingCost: counter('embedding_cost_total', 'Price of those tokens, by embedding.price_per_million_tokens.'),
    objectsWritten: counter('objects_written_total', 'Objects inserted into the store.'),
    objectsDeleted: counter('objects_deleted_total', 'Objects deleted from the store.'),
    filesScanned: counter('files_scanned_total', 'Files that a scan compared with the store.'),
    reconciles: new Counter({
      name: 'sluice_reconciles_total',
      help: 'Reconcile jobs by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    changeToSearchable: new Histogram({
      name: 'sluice_change_to_searchable_seconds',
      help: 'From a change on disk until it is searchable.',
      buckets: SECONDS,
      registers,
    }),
    stageSeconds: new Histogram({
      name: 'sluice_stage_seconds',
      help: 'Time of each stage of the pipeline.',
      labelNames: ['stage'],
      buckets: SECONDS,
      registers,
    }),
    drift: new Gauge({
      name: 'sluice_drift',
      help: 'Differences the last audit found, by kind.',
      labelNames: ['kind'],
      // Each worker audits the whole store: what two of them find is the same.
      aggregator: 'max',
      registers,
    }),
    llmTokens: new Counter({
      name: 'sluice_llm_tokens_total',
      help: 'Tokens of answers, as the language model counted them.',
      labelNames: ['kind'],
      registers,
    }),
    snapshot: file === undefined ? undefined : name,
    async flush() {
      if (file === undefined) return;
      if (writing !== undefined) {
        again = true;
        return writing;
      }
      writing = write(file).finally(() => {
        writing = undefined;
      });
      return writing;
    },
  };
}

/** Writes a file into a folder that is made when it is missing, as before the first write. */
async function writeInto(folder: string, path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch {
    await mkdir(folder, { recursive: true });
    await writeFile(path, text);
  }
}
