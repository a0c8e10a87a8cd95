import type {
  Caller,
  Cause,
  ChunkStore,
  Clock,
  CommitRecord,
  FeedbackStore,
  ReconcileQueue,
  SecurityLevel,
  Tokenizer,
} from '@sluice/core';
import type { FieldCatalog } from '@sluice/metadata';
import type { KeyUse } from '@sluice/queues';
import type { Retrieval } from '@sluice/retrieval';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import type { Explanation } from './explain.js';
import type { KeyRing } from './keys/key-ring.js';
import type { ModelControl } from './models.js';

/** What a queue tells operators. Errors of every method: `queue_unavailable`. */
interface QueueView extends Pick<ReconcileQueue, 'add' | 'addBulk'> {
  /** Jobs by state, as `{waiting, active, delayed, ...}`, by queue name. */
  counts(): Promise<Record<string, Record<string, number>>>;
  /** Which of these documents have a job that waits, runs or is delayed. */
  pending(docUuids: readonly string[]): Promise<Set<string>>;
  /** Every document with such a job, at most `limit` of them. */
  pendingDocuments(limit: number): Promise<{ source: string; path: string; cause: Cause }[]>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  isPaused(): Promise<boolean>;
  /** Resolves when Redis answers. */
  ping(): Promise<void>;
  /** False when jobs wait and no worker has taken one for a while. */
  consuming(): Promise<boolean>;
  /** Workers that are connected, but whose event loop has not turned for 15 s; `seconds` since when. */
  standingWorkers(): Promise<{ host: string; pid: number; seconds: number }[]>;
}

/** What the watcher says of a source. */
export interface SourceState {
  reachable: boolean;
  deletes_suspended: boolean;
}

/** What the API and the watcher tell each other. */
interface SourceControl {
  /** Asks for a scan of a source, and returns a number that grows with every request. */
  requestScan(source: string): Promise<number>;
  /** The highest request that a finished scan has answered, all it saw being stable and queued; 0 before the first. */
  scannedUpTo(source: string): Promise<number>;
  /** Tells the next scan that the folder that is there now is the source's root, whatever it holds. */
  acceptRoot(source: string): Promise<void>;
  state(source: string): Promise<SourceState | undefined>;
}

/** A process of the instance, as the supervisor's run file names it. */
interface ProcessInfo {
  role: string;
  pid: number;
  restarts: number;
}

/** INTERFACES 1, `verify --json`, with what the walk left out. */
interface VerifyReport {
  differences: number;
  by_kind: Record<
    | 'missing_document'
    | 'stale_document'
    | 'unexpected_document'
    | 'missing_chunk'
    | 'orphan_chunk'
    | 'duplicate_chunk'
    | 'wrong_metadata',
    number
  >;
  failed_serving_old: number;
  in_grace: number;
  in_flight: number;
  unreachable_sources: string[];
  unreadable_paths: number;
  repaired?: number;
  checked: { files: number; documents: number; chunks: number };
  examples: { kind: string; doc_id: string }[];
}

interface ApiSettings {
  /** Host names and addresses by which this server may be called, beside loopback ones and the address that a call came in at. */
  allowedHosts: readonly string[];
  corsOrigins: readonly string[];
  /** Calls of one caller that may run at once. */
  callsAtOnce: number;
  /** Largest body of a request. */
  bodyBytes: number;
}

/** Everything the API stands on. `compose.ts` makes the real ones, tests give fakes. */
export interface ApiDeps {
  store: ChunkStore;
  retrieval: Retrieval;
  /** Counts the tokens of what agents are given. */
  tokenizer: Tokenizer;
  queue: QueueView;
  control: SourceControl;
  /** Sources of the configuration. */
  sources: readonly { name: string; path: string }[];
  /** Access of a file of which nothing is stored yet, by configuration alone. */
  configuredAccess(source: string, path: string): { security_level: SecurityLevel; allowed_groups?: string[] };
  /** Access of such a file by its own metadata as well, read from disk; what cannot be read hides it. */
  accessOfNewFile(source: string, path: string): Promise<{ security_level: SecurityLevel; allowed_groups?: string[] }>;
  catalog: FieldCatalog;
  settings: ApiSettings;
  /** Who asks. Errors: `unauthorized`, `rate_limited`. */
  identify(request: FastifyRequest): Promise<Caller>;
  ring: KeyRing;
  feedback: FeedbackStore;
  keyUse: KeyUse;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  /** The metrics of the whole instance in Prometheus' text format, this process' registry included. */
  instanceMetrics(): Promise<string>;
  processes(): Promise<ProcessInfo[]>;
  addresses(): Promise<Record<'redis' | 'weaviate' | 'api', string>>;
  /** Resolves when the model answers. */
  checkModel(): Promise<void>;
  /** Which model answers, and how another one takes its place. */
  models: ModelControl;
  /** Takes a dead letter off the list. False when it is none. */
  discard(document: { source: string; path: string }): Promise<boolean>;
  verify(options: {
    repair: boolean;
    mayName(document: { docId: string; records: readonly CommitRecord[] }): boolean | Promise<boolean>;
    /** Called with the number of documents compared so far. */
    onProgress?: (documents: number) => void;
  }): Promise<VerifyReport>;
  /** Takes the documents of a source out of the store, as far as their records allow it; the number removed. */
  removeSource(name: string, mayRemove: (records: readonly CommitRecord[]) => boolean): Promise<number>;
  /** Why a path is or is not a document. */
  explain(path: string): Promise<Explanation>;
  /** Bull Board, below /ops/queues. */
  boards?: { prefix: string; plugin: FastifyPluginCallback }[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key. */
    open?: boolean;
  }
  interface FastifyRequest {
    /** Set before any route runs. */
    caller: Caller;
  }
}
