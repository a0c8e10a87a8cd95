import { type ChildProcess, fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from '@sluice/config';
import { type Chunk, compiledUrl, type ReadRequest, type ReadResult, SluiceError, toSluiceError } from '@sluice/core';
import { answerCall, type CallTargets } from './answer-calls.js';
import type { FromProcess, ProcessOptions, ToProcess } from './document-messages.js';
import { limitOwnTime } from './own-time.js';
import { fromWire } from './wire-error.js';

/** How often the memory of a parsing process is looked at, ms. */
const MEMORY_CHECK_MS = 200;

/** What a process takes before it has read anything (runtime, parsers, tokenizer), MB: added to the limit of a document. */
const BASELINE_MB = 400;

/** A document that had more texts than this embedded while it was read is slow, whatever its size: some 20 s of the model on two cores. */
const SLOW_TEXTS = 2000;

/** The variables of the worker that a parsing process gets: it meets hostile files, so no address, password or key is among them. */
const PARSING_VARIABLES = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'],
  ...['NODE_ENV', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'TESSDATA_PREFIX', 'OMP_THREAD_LIMIT'],
];

function parsingEnvironment(): Record<string, string> {
  const all = processEnvironment();
  return Object.fromEntries(
    PARSING_VARIABLES.flatMap((name) => {
      const value = all[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Given, so that none is made, with its stack, for each document. */
const SETTLED = 'settled';

/** A process that reads one document at a time. */
export interface ReaderProcess {
  /** `onSlow` is called once the document has taken long by itself, or a good deal of the model. */
  read(request: ReadRequest, signal: AbortSignal, onSlow: () => void): Promise<ReadResult>;
  /** Starts the process ahead of its first document. */
  warm(limitMb: number): void;
  usable(): boolean;
  kill(): void;
}

export interface ReaderProcessOptions {
  tokenizer: ProcessOptions['tokenizer'];
  /** Reading time of its own, ms, after which a document is slow. */
  slowMs: number;
}

export function openReaderProcess({ tokenizer, slowMs }: ReaderProcessOptions, targets: CallTargets): ReaderProcess {
  const { id, dimensions, maxTokens } = targets.embedder;
  const processOptions: ProcessOptions = {
    tokenizer,
    embedder: { id, dimensions, maxTokens },
    ...(targets.llm === undefined ? {} : { llm: { id: targets.llm.id } }),
  };
  let child: ChildProcess | undefined;
  let heapMb = 0;
  let usable = true;
  let isReady = false;

  function start(limitMb: number): ChildProcess {
    // A document with a larger limit than this process' heap needs a new process.
    if (child !== undefined && heapMb >= limitMb) return child;
    child?.kill('SIGKILL');
    heapMb = limitMb;
    isReady = false;
    const started = fork(fileURLToPath(compiledUrl(import.meta.url, './document-process.js')), [JSON.stringify(processOptions)], {
      serialization: 'advanced',
      env: parsingEnvironment(),
      execArgv: [`--max-old-space-size=${limitMb}`],
      // Its messages are ours; whatever a library prints must not mix with the worker's log.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child = started;
    // Should it end between two documents, the next one starts another.
    started
      .on('error', () => {})
      .on('message', (message: FromProcess) => {
        if (message.type === 'ready' && child === started) isReady = true;
      })
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
    read(request, signal, onSlow) {
      const running = start(request.limits.parseMemoryMb);
      const stopUsing = () => {
        usable = false;
        running.kill('SIGKILL');
      };
      return readIn(running, request, { targets, slowMs, wasReady: isReady, signal, onSlow, stopUsing });
    },
  };
}

interface ReadOptions extends Pick<ReaderProcessOptions, 'slowMs'> {
  targets: CallTargets;
  /** The process has started already. */
  wasReady: boolean;
  signal: AbortSignal;
  onSlow(): void;
  /** Ends the process, with whatever it is at. */
  stopUsing(): void;
}

/** Has a process read a document, and answers what it asks meanwhile. It settles once, and leaves no listener, timer or call behind. */
function readIn(
  running: ChildProcess,
  { onProgress, ...request }: ReadRequest,
  { targets, slowMs, wasReady, signal, onSlow, stopUsing }: ReadOptions,
): Promise<ReadResult> {
  const chunks: Chunk[] = [];
  return new Promise<ReadResult>((resolve, reject) => {
    const fail = (error: SluiceError) => {
      stopUsing();
      settle(() => reject(error));
    };
    const own = limitOwnTime(request.limits.parseMs, () => fail(tooLong(request)));
    // Apart from the limit: what a process takes to start on a busy machine is no slowness of the document.
    let patience = wasReady ? limitOwnTime(slowMs, onSlow) : undefined;
    let embedded = 0;
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
        case 'ready':
          patience ??= limitOwnTime(slowMs, onSlow);
          break;
        case 'progress':
          onProgress?.(message.share);
          break;
        case 'ask': {
          const waits = [own.waits(), patience?.waits()];
          if (message.question.name === 'embed') embedded += message.question.given[0].length;
          if (embedded > SLOW_TEXTS) onSlow();
          void answerCall(targets, message, calls.signal).then((answer) => {
            for (const wait of waits) wait?.done();
            if (running.connected) running.send(answer, () => {});
          });
          break;
        }
        case 'chunks':
          for (const chunk of message.chunks) chunks.push(chunk);
          break;
        case 'done':
          settle(() =>
            resolve(chunks.length === 0 ? message.result : { ...message.result, chunks: [...chunks, ...message.result.chunks] }),
          );
          break;
        case 'failed':
          settle(() => reject(fromWire(message.error, request.docId)));
          break;
      }
    };
    function settle(then: () => void): void {
      own.stop();
      patience?.stop();
      // What nobody waits for any more need not be computed, nor paid for.
      calls.abort(SETTLED);
      clearInterval(memory);
      signal.removeEventListener('abort', onAbort);
      running.off('exit', onExit).off('error', onError).off('message', onMessage);
      then();
    }
    running.on('exit', onExit).on('error', onError).on('message', onMessage);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    running.send({ type: 'read', request } satisfies ToProcess, (error) => {
      if (error !== null) onError(error);
    });
  });
}

/** What a document fails with that nobody waits for any more. */
export function wasStopped({ docId }: ReadRequest): SluiceError {
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

/**
 * Resident memory of a process and of those it has started (text recognition runs in one of its own), MB. 0 where the system does not
 * tell (only Linux has /proc): then the heap limit alone holds.
 */
async function residentMb(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  try {
    const [status, children] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
    ]);
    const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
    const others = await Promise.all(
      children
        .trim()
        .split(' ')
        .filter(Boolean)
        .map((child) => residentMb(Number(child))),
    );
    return others.reduce((sum, mb) => sum + mb, own);
  } catch {
    return 0;
  }
}
