import { createFactCache } from '@sluice/chunking';
import { type DocumentReader, type Embedder, type Llm, type ReadRequest, type ReadResult, SluiceError } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import type { CallTargets } from './answer-calls.js';
import type { ProcessOptions } from './document-messages.js';
import { openReaderProcess, type ReaderProcess, wasStopped } from './reader-process.js';

export interface DocumentPoolOptions {
  /** What counts tokens in the parsing processes. */
  tokenizer: ProcessOptions['tokenizer'];
  embedder: Embedder;
  logger: Logger;
  /** For propositions, where one is configured. They have as many processes again, since they wait for it nearly all the time. */
  llm?: Llm | undefined;
  /** Number of processes, each started when it is first needed. Default 2; with one a document that hangs holds up all others. */
  processes?: number;
  /** Files over this many bytes are heavy from the start. */
  largeBytes: number;
  /** A document whose reading took this long is heavy from then on, ms; its waits for a model are not counted. */
  slowMs: number;
  /** Called with a document that has become heavy, or that has to wait for the language model. */
  onSlow?: (docId: string) => void;
  /** Memory limit, MB, of a process to start right away, so that the first document does not wait for it. Default: none is started. */
  warmMb?: number;
}

/** Of so many that begin one is the one that waits longest: nobody waits for ever behind smaller ones. */
const OLDEST_EVERY = 4;

/** Slow documents that are remembered, some 10 MB of names: one may never come back, since another worker has it. */
const MOST_SLOW = 100_000;

/** Over this many bytes a document of `semantic` has a good deal of sentences to embed while it is read: some 5 s of the model. */
const SEMANTIC_LARGE_BYTES = 60_000;

export interface DocumentPool extends DocumentReader {
  /** Whether a document was found to be slow, and has not been read since. */
  isSlow(docId: string): boolean;
}

/**
 * Parses and chunks in processes of their own, each with one document at a time, so that a document that hangs, crashes or takes all
 * memory ends alone: `parse_timeout`, `parse_memory`, or `internal` for a crash (tried again, and counted a document).
 *
 * Nor does it hold up others: heavy documents (large or slow) leave a process to light ones, of which the smallest goes first. One that
 * turns out slow makes way as soon as a light one waits, and begins again, with all of its time, where heavy ones may; that is done to a
 * document once.
 */
export function createDocumentPool(options: DocumentPoolOptions): DocumentPool {
  const targets: CallTargets = { embedder: options.embedder, llm: options.llm, facts: createFactCache() };
  const { slowMs, largeBytes, processes = 2, logger, tokenizer } = options;
  const slow = new Set<string>();
  let closed = false;

  function turnsSlow({ docId }: ReadRequest): void {
    slow.add(docId);
    const [oldest] = slow;
    if (slow.size > MOST_SLOW && oldest !== undefined) slow.delete(oldest);
    options.onSlow?.(docId);
  }

  const createGroup = () =>
    createProcessGroup({ size: processes, open: () => openReaderProcess({ tokenizer, slowMs }, targets), onSlow: turnsSlow });
  const plain = createGroup();
  const written = createGroup();
  if (options.warmMb !== undefined) plain.warm(options.warmMb);

  return {
    isSlow: (docId) => slow.has(docId),
    async read(request, signal = new AbortController().signal) {
      const { docId, size: bytes = 0 } = request;
      if (closed) throw wasClosed();
      const isWritten = options.llm !== undefined && request.chunking.strategy === 'propositions';
      const most = request.chunking.strategy === 'semantic' ? Math.min(largeBytes, SEMANTIC_LARGE_BYTES) : largeBytes;
      const heavy = bytes > most || (!isWritten && slow.has(docId));
      if (isWritten && !slow.has(docId)) turnsSlow(request);
      try {
        const result = await (isWritten ? written : plain).read({ request, signal, bytes, heavy });
        // What a language model costs is counted in its tokens.
        if (result.usage !== undefined) logger.info({ doc_id: docId, ...result.usage }, 'language model');
        return result;
      } finally {
        // Stopped, it is to come again.
        if (!signal.aborted) slow.delete(docId);
      }
    },
    async close() {
      closed = true;
      plain.close();
      written.close();
    },
  };
}

/** Given, so that none is made, with its stack, for each document. */
const SETTLED = 'settled';

interface Task {
  request: ReadRequest;
  bytes: number;
  heavy: boolean;
  signal: AbortSignal;
}

interface WaitingTask extends Task {
  resolve: (result: ReadResult) => void;
  reject: (cause: unknown) => void;
}

/** A document that a process is at. */
interface Run {
  task: WaitingTask;
  /** It was heavy when it began, and stays. */
  wasHeavy: boolean;
  /** Takes it off its process, to begin again later. */
  putBack: AbortController;
}

interface ProcessGroup {
  read(task: Task): Promise<ReadResult>;
  warm(limitMb: number): void;
  close(): void;
}

interface ProcessGroupOptions {
  size: number;
  open: () => ReaderProcess;
  onSlow: (request: ReadRequest) => void;
}

/** Some processes, and the documents that wait for one. */
function createProcessGroup({ size, open, onSlow }: ProcessGroupOptions): ProcessGroup {
  const idle: ReaderProcess[] = [];
  const all = new Set<ReaderProcess>();
  const waiting: WaitingTask[] = [];
  /** In the order of beginning. */
  const runs = new Set<Run>();
  let begun = 0;
  let closed = false;

  function pump(): void {
    for (;;) {
      const task = nextTask({ waiting, runs, size, begun });
      if (task === undefined) return;
      const reader = idle.pop() ?? (all.size < size ? open() : undefined);
      if (reader === undefined) {
        makeWay(task);
        return;
      }
      all.add(reader);
      waiting.splice(waiting.indexOf(task), 1);
      begun += 1;
      void run(reader, task);
    }
  }

  /** The last of those that have become heavy makes way for a light one. */
  function makeWay(task: Task): void {
    const running = [...runs];
    // One that ends already is waited for.
    if (task.heavy || running.some((run) => run.putBack.signal.aborted || run.task.signal.aborted)) return;
    running.findLast((run) => run.task.heavy && !run.wasHeavy)?.putBack.abort();
  }

  async function run(reader: ReaderProcess, task: WaitingTask): Promise<void> {
    const run: Run = { task, wasHeavy: task.heavy, putBack: new AbortController() };
    runs.add(run);
    try {
      const signal = AbortSignal.any([run.putBack.signal, task.signal]);
      task.resolve(await reader.read(task.request, signal, () => turnsSlow(task)));
    } catch (cause) {
      if (run.putBack.signal.aborted && !task.signal.aborted && !closed) waiting.push(task);
      else task.reject(cause);
    } finally {
      runs.delete(run);
      if (reader.usable() && !closed) idle.push(reader);
      else {
        all.delete(reader);
        reader.kill();
      }
      pump();
    }
  }

  function turnsSlow(task: Task): void {
    if (task.heavy) return;
    task.heavy = true;
    onSlow(task.request);
    pump();
  }

  return {
    read(task) {
      return new Promise((resolve, reject) => {
        if (task.signal.aborted) return reject(wasStopped(task.request));
        const settled = new AbortController();
        const settle =
          <T>(by: (value: T) => void) =>
          (value: T) => {
            settled.abort(SETTLED);
            by(value);
          };
        const entry: WaitingTask = { ...task, resolve: settle(resolve), reject: settle(reject) };
        // While it runs, its process is told.
        const onAbort = () => {
          const at = waiting.indexOf(entry);
          if (at < 0) return;
          waiting.splice(at, 1);
          entry.reject(wasStopped(task.request));
        };
        task.signal.addEventListener('abort', onAbort, { once: true, signal: settled.signal });
        waiting.push(entry);
        pump();
      });
    },
    warm(limitMb) {
      const reader = open();
      reader.warm(limitMb);
      all.add(reader);
      idle.push(reader);
    },
    close() {
      closed = true;
      for (const task of waiting.splice(0)) task.reject(wasClosed());
      for (const reader of all) reader.kill();
    },
  };
}

/** The document to begin with: the smallest light one, else the heavy one that waits longest; at times the oldest of all. */
function nextTask({
  waiting,
  runs,
  size,
  begun,
}: {
  waiting: readonly WaitingTask[];
  runs: ReadonlySet<Run>;
  size: number;
  begun: number;
}): WaitingTask | undefined {
  const heavy = [...runs].filter((run) => run.task.heavy).length;
  const allowed = waiting.filter((task) => !task.heavy || size === 1 || heavy < size - 1);
  const light = allowed.filter((task) => !task.heavy);
  if (light.length === 0 || begun % OLDEST_EVERY === OLDEST_EVERY - 1) return allowed[0];
  return light.reduce((least, task) => (task.bytes < least.bytes ? task : least));
}

function wasClosed(): SluiceError {
  return new SluiceError('internal', 'the worker is shutting down', { kind: 'transient' });
}
