import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createFactCache } from '@sluice/chunking';
import {
  type Chunk,
  compiledUrl,
  type DocumentReader,
  type Embedder,
  type Llm,
  type ReadRequest,
  type ReadResult,
  SluiceError,
  toSluiceError,
} from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { answerCall, type CallTargets } from './answer-calls.js';
import type { FromProcess, ProcessOptions, ToProcess } from './document-messages.js';
import { limitOwnTime } from './own-time.js';
import { fromWire } from './wire-error.js';

export interface DocumentPoolOptions {
  modelFolder: string;
  embedder: Embedder;
  logger: Logger;
  /** For propositions, where one is configured. */
  llm?: Llm | undefined;
  /** Number of processes; default: two, or one on a machine of one core. */
  processes?: number;
  /** Files over this many bytes are heavy from the start. Default 5,000,000. */
  largeBytes?: number;
  /** A document that a process was at for this long is heavy from then on, ms. Default 5 s. */
  slowMs?: number;
  /** Told of a document that has become heavy. */
  onSlow?: (docId: string) => void;
  /** Memory limit, MB, of a process to start right away, so that the first document does not wait for it. Default: none is started. */
  warmMb?: number;
  /** Size of a file, to tell large from small. Default 0 (small). */
  sizeOf?: (path: string) => Promise<number>;
}

/** Longer than nearly every document takes, and short enough to wait for, ms. */
const SLOW_MS = 5000;

/** How often the memory of a parsing process is looked at, ms. */
const MEMORY_CHECK_MS = 200;

/** What a process takes before it has read anything (runtime, parsers, tokenizer), MB: added to the limit of a document. */
const BASELINE_MB = 400;

/** Of so many that begin one is the one that waits longest: nobody waits for ever behind smaller ones. */
const OLDEST_EVERY = 4;

/** Slow documents that are remembered, in case one never comes back: another worker may have it. */
const MOST_SLOW = 1000;

export interface DocumentPool extends DocumentReader {
  /** Whether a document was found to be slow, and has not been read since. */
  isSlow(docId: string): boolean;
}

interface Task {
  request: ReadRequest;
  bytes: number;
  heavy: boolean;
  signal: AbortSignal | undefined;
  resolve: (result: ReadResult) => void;
  reject: (cause: unknown) => void;
}

/** A document that a process is at. */
interface Run {
  task: Task;
  /** It was heavy when it began, and stays. */
  wasHeavy: boolean;
  /** Takes it off its process, to begin anew later. */
  putBack: AbortController;
}

/**
 * Parses and chunks in processes of their own, each with one document at a time, so that a document that hangs, crashes or takes all
 * memory ends alone: `parse_timeout`, `parse_memory`, or `internal` for a crash (tried again, and counted a document).
 *
 * Nor does it hold up others: with two processes or more, heavy documents (large or slow) leave one of them to light ones, of which
 * the smallest goes first. One that turns out slow on the last process makes way as soon as a light one waits, and begins anew, with
 * all of its time, where heavy ones may; that is done to a document once.
 */
export function createDocumentPool(options: DocumentPoolOptions): DocumentPool {
  const targets: CallTargets = { embedder: options.embedder, llm: options.llm, facts: createFactCache() };
  const size = options.processes ?? Math.min(2, availableParallelism());
  const largeBytes = options.largeBytes ?? 5_000_000;
  const idle: ReaderProcess[] = [];
  const all = new Set<ReaderProcess>();
  const waiting: Task[] = [];
  /** In the order of beginning. */
  const runs = new Set<Run>();
  const slow = new Set<string>();
  let begun = 0;
  let closed = false;

  function pump(): void {
    for (;;) {
      const task = next();
      if (task === undefined) return;
      const reader = idle.pop() ?? (all.size < size ? open(options, targets) : undefined);
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

  /** The document to begin with: the smallest light one, else the heavy one that waits longest; at times the oldest of all. */
  function next(): Task | undefined {
    const heavy = [...runs].filter((run) => run.task.heavy).length;
    const allowed = waiting.filter((task) => !task.heavy || size === 1 || heavy < size - 1);
    const light = allowed.filter((task) => !task.heavy);
    if (light.length === 0 || begun % OLDEST_EVERY === OLDEST_EVERY - 1) return allowed[0];
    return light.reduce((least, task) => (task.bytes < least.bytes ? task : least));
  }

  /** Where heavy documents hold every process, the last of those that have become so makes way for a light one. */
  function makeWay(task: Task): void {
    const running = [...runs];
    // One process is nobody's share; and one that ends already is waited for.
    if (task.heavy || size === 1 || !running.every((run) => run.task.heavy)) return;
    if (running.some((run) => run.putBack.signal.aborted || run.task.signal?.aborted)) return;
    running.findLast((run) => !run.wasHeavy)?.putBack.abort();
  }

  async function run(reader: ReaderProcess, task: Task): Promise<void> {
    const run: Run = { task, wasHeavy: task.heavy, putBack: new AbortController() };
    runs.add(run);
    const patience = setTimeout(() => turnsSlow(task), options.slowMs ?? SLOW_MS);
    try {
      const { signal } = run.putBack;
      const result = await reader.read(task.request, task.signal === undefined ? signal : AbortSignal.any([signal, task.signal]));
      // What a language model costs is counted in its tokens.
      if (result.usage !== undefined) options.logger.info({ doc_id: task.request.docId, ...result.usage }, 'language model');
      slow.delete(task.request.docId);
      task.resolve(result);
    } catch (cause) {
      if (task.signal?.aborted || closed) task.reject(cause);
      else if (run.putBack.signal.aborted) waiting.push(task);
      else {
        slow.delete(task.request.docId);
        task.reject(cause);
      }
    } finally {
      clearTimeout(patience);
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
    const { docId } = task.request;
    task.heavy = true;
    slow.add(docId);
    const [oldest] = slow;
    if (slow.size > MOST_SLOW && oldest !== undefined) slow.delete(oldest);
    options.onSlow?.(docId);
    pump();
  }

  if (options.warmMb !== undefined) {
    const reader = open(options, targets);
    reader.warm(options.warmMb);
    all.add(reader);
    idle.push(reader);
  }

  return {
    isSlow: (docId) => slow.has(docId),
    async read(request, signal) {
      const bytes = (await options.sizeOf?.(request.path).catch(() => 0)) ?? 0;
      if (closed) throw new SluiceError('internal', 'the worker is shutting down', { kind: 'transient' });
      if (signal?.aborted) throw wasStopped(request);
      return new Promise<ReadResult>((resolve, reject) => {
        const heavy = bytes > largeBytes || slow.has(request.docId);
        const task: Task = { request, bytes, heavy, signal, resolve: settle(resolve), reject: settle(reject) };
        // While it runs, its process is told.
        const onAbort = () => {
          const at = waiting.indexOf(task);
          if (at < 0) return;
          waiting.splice(at, 1);
          task.reject(wasStopped(request));
        };
        function settle<T>(then: (value: T) => void): (value: T) => void {
          return (value) => {
            signal?.removeEventListener('abort', onAbort);
            then(value);
          };
        }
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(task);
        pump();
      });
    },
    async close() {
      closed = true;
      for (const task of waiting.splice(0))
        task.reject(new SluiceError('internal', 'the worker is shutting down', { kind: 'transient' }));
      for (const reader of all) reader.kill();
    },
  };
}

interface ReaderProcess {
  read(request: ReadRequest, signal: AbortSignal | undefined): Promise<ReadResult>;
  /** Starts the process ahead of its first document. */
  warm(limitMb: number): void;
  usable(): boolean;
  kill(): void;
}

function open({ modelFolder }: DocumentPoolOptions, targets: CallTargets): ReaderProcess {
  const { id, dimensions, maxTokens } = targets.embedder;
  const processOptions: ProcessOptions = {
    modelFolder,
    embedder: { id, dimensions, maxTokens },
    ...(targets.llm === undefined ? {} : { llm: { id: targets.llm.id } }),
  };
  let child: ChildProcess | undefined;
  let heapMb = 0;
  let usable = true;

  function start(limitMb: number): ChildProcess {
    // A document with a larger limit than this process' heap needs a new process.
    if (child !== undefined && heapMb >= limitMb) return child;
    child?.kill('SIGKILL');
    heapMb = limitMb;
    const started = fork(fileURLToPath(compiledUrl(import.meta.url, './document-process.js')), [JSON.stringify(processOptions)], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${limitMb}`],
      // Its messages are ours; whatever a library prints must not mix with the worker's log.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child = started;
    // Should it end between two documents, the next one starts another.
    started
      .on('error', () => {})
      .once('exit', () => {
        if (child === started) child = undefined;
      });
    return started;
  }

  return {
    warm(limitMb) {
      start(limitMb);
    },
    usable: () => usable,
    kill() {
      usable = false;
      child?.kill('SIGKILL');
    },
    read(request, signal) {
      const { onProgress, ...rest } = request;
      const running = start(request.limits.parseMemoryMb);
      const chunks: Chunk[] = [];
      return new Promise<ReadResult>((resolve, reject) => {
        const fail = (error: SluiceError) => {
          usable = false;
          running.kill('SIGKILL');
          settle(() => reject(error));
        };
        const own = limitOwnTime(request.limits.parseMs, () => fail(tooLong(request)));
        const calls = new AbortController();
        const memory = setInterval(() => {
          void residentMb(running.pid).then((mb) => {
            if (mb > request.limits.parseMemoryMb + BASELINE_MB) fail(tooMuch(request));
          });
        }, MEMORY_CHECK_MS);
        const onAbort = () => fail(wasStopped(request));
        const onExit = (code: number | null, exitSignal: NodeJS.Signals | null) => {
          // V8 ends with an abort when its heap is full.
          if (code === 134 || exitSignal === 'SIGABRT') fail(tooMuch(request));
          else
            fail(
              new SluiceError(
                'internal',
                `${request.docId}: the parsing process ended (${exitSignal ?? code}); it will be tried again`,
                { docId: request.docId, kind: 'transient' },
              ),
            );
        };
        const onError = (cause: Error) => fail(toSluiceError(cause, 'internal', request.docId));
        const onMessage = (message: FromProcess) => {
          switch (message.type) {
            case 'progress':
              onProgress?.(message.share);
              break;
            case 'ask': {
              const wait = own.waits();
              void answerCall(targets, message, calls.signal).then((answer) => {
                wait.done();
                if (running.connected) running.send(answer, () => {});
              });
              break;
            }
            case 'chunks':
              for (const chunk of message.chunks) chunks.push(chunk);
              break;
            case 'done':
              settle(() => resolve({ ...message.result, chunks }));
              break;
            case 'failed':
              settle(() => reject(fromWire(message.error, request.docId)));
              break;
          }
        };
        function settle(then: () => void): void {
          own.stop();
          // What nobody waits for any more need not be computed, nor paid for.
          calls.abort();
          clearInterval(memory);
          signal?.removeEventListener('abort', onAbort);
          running.off('exit', onExit).off('error', onError).off('message', onMessage);
          then();
        }
        running.on('exit', onExit).on('error', onError).on('message', onMessage);
        if (signal?.aborted) return onAbort();
        signal?.addEventListener('abort', onAbort, { once: true });
        running.send({ type: 'read', request: rest } satisfies ToProcess, (error) => {
          if (error !== null) onError(error);
        });
      });
    },
  };
}

function wasStopped({ docId }: ReadRequest): SluiceError {
  return new SluiceError('internal', `${docId}: reading was stopped`, { kind: 'transient', docId });
}

function tooLong({ docId, limits }: ReadRequest): SluiceError {
  return new SluiceError(
    'parse_timeout',
    `${docId} was not parsed within ${limits.parseMs / 1000} s; raise limits.parse_s or simplify the file`,
    { docId },
  );
}

function tooMuch({ docId, limits }: ReadRequest): SluiceError {
  return new SluiceError(
    'parse_memory',
    `${docId} took more than ${limits.parseMemoryMb} MB to parse; raise limits.parse_memory_mb or split the file`,
    { docId },
  );
}

/** Resident memory of a process, MB; 0 where the system does not tell (only Linux has /proc): then the heap limit alone holds. */
async function residentMb(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  try {
    const pages = Number((await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1]);
    return (pages * 4096) / 1_048_576;
  } catch {
    return 0;
  }
}
