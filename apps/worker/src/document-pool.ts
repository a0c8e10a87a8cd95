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
  /** Files over this many bytes never take the last free process, so that small ones are not kept waiting. Default 5,000,000. */
  largeBytes?: number;
  /** Memory limit, MB, of a process to start right away, so that the first document does not wait for it. Default: none is started. */
  warmMb?: number;
  /** Size of a file, to tell large from small. Default 0 (small). */
  sizeOf?: (path: string) => Promise<number>;
}

/** How often the memory of a parsing process is looked at, ms. */
const MEMORY_CHECK_MS = 200;

/** What a process takes before it has read anything (runtime, parsers, tokenizer), MB: added to the limit of a document. */
const BASELINE_MB = 400;

interface Task {
  request: ReadRequest;
  large: boolean;
  signal: AbortSignal | undefined;
  resolve: (result: ReadResult) => void;
  reject: (cause: unknown) => void;
}

/**
 * Parses and chunks in processes of their own, each with one document at a time, so that a document that hangs, crashes or takes all
 * memory ends alone: `parse_timeout`, `parse_memory`, or `internal` for a crash (tried again, and counted a document).
 */
export function createDocumentPool(options: DocumentPoolOptions): DocumentReader {
  const targets: CallTargets = { embedder: options.embedder, llm: options.llm, facts: createFactCache() };
  const size = options.processes ?? Math.min(2, availableParallelism());
  const largeBytes = options.largeBytes ?? 5_000_000;
  const idle: ReaderProcess[] = [];
  const all = new Set<ReaderProcess>();
  const waiting: Task[] = [];
  let largeRunning = 0;
  let closed = false;

  function pump(): void {
    for (;;) {
      const mayTakeLarge = size === 1 || largeRunning < size - 1;
      const at = waiting.findIndex((task) => !task.large || mayTakeLarge);
      if (at < 0) return;
      const reader = idle.pop() ?? (all.size < size ? open(options, targets) : undefined);
      if (reader === undefined) return;
      all.add(reader);
      const [task] = waiting.splice(at, 1);
      if (task !== undefined) void run(reader, task);
    }
  }

  async function run(reader: ReaderProcess, task: Task): Promise<void> {
    if (task.large) largeRunning += 1;
    try {
      const result = await reader.read(task.request, task.signal);
      // What a language model costs is counted in its tokens.
      if (result.usage !== undefined) options.logger.info({ doc_id: task.request.docId, ...result.usage }, 'language model');
      task.resolve(result);
    } catch (cause) {
      task.reject(cause);
    } finally {
      if (task.large) largeRunning -= 1;
      if (reader.usable() && !closed) idle.push(reader);
      else {
        all.delete(reader);
        reader.kill();
      }
      pump();
    }
  }

  if (options.warmMb !== undefined) {
    const reader = open(options, targets);
    reader.warm(options.warmMb);
    all.add(reader);
    idle.push(reader);
  }

  return {
    async read(request, signal) {
      if (closed) throw new SluiceError('internal', 'the worker is shutting down', { kind: 'transient' });
      const bytes = (await options.sizeOf?.(request.path).catch(() => 0)) ?? 0;
      return new Promise<ReadResult>((resolve, reject) => {
        waiting.push({ request, large: bytes > largeBytes, signal, resolve, reject });
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
        const onAbort = () =>
          fail(new SluiceError('internal', `${request.docId}: reading was stopped`, { kind: 'transient', docId: request.docId }));
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
