import { SluiceError } from '@sluice/core';
import { createCallQueue, type Item } from './call-queue.js';
import type { ModelHost } from './model-host.js';
import type { ModelInput, RunMessage, ThreadMessage } from './thread-messages.js';

/** Word pieces handed to a thread ahead of time: enough that it never waits for the main thread, few enough to share work evenly. */
const AHEAD = 768;
const SLICE_TOKENS = 256;
const SLICE_TEXTS = 16;
/** A text whose thread died is run once more, alone; the second death is its own fault. */
const MAX_TRIES = 2;
/** Threads that die before they are ready, in a row, until callers are told. */
const MAX_FAILED_STARTS = 3;

export interface ThreadPoolOptions {
  threads: number;
  /** Starts one process (or thread) that speaks the protocol of thread-messages.ts. */
  start: () => ModelHost;
  /** Called when a thread died, for the log. */
  onDeath?: (reason: string) => void;
}

interface RunOptions {
  /** Goes before other work, also before what a thread has taken but not begun. */
  urgent?: boolean;
  signal?: AbortSignal;
}

export interface ThreadPool {
  /** One output an input, in order. Errors: `embed_failed`, `model_unavailable`, or the signal's reason. */
  run(inputs: readonly ModelInput[], options?: RunOptions): Promise<Float32Array[]>;
  /** Resolves once every thread has loaded the model. Error: `model_unavailable`. */
  ready(): Promise<void>;
  stats(): { threads: number; loads: number; deaths: number };
  close(): Promise<void>;
}

interface Slice {
  items: Item[];
  tokens: number;
}

interface Thread {
  worker: ModelHost;
  ready: boolean;
  slices: Map<number, Slice>;
  /** Word pieces it holds. */
  tokens: number;
  /** Runs a text that a thread has died of: nothing else may share its fate. */
  quarantined: boolean;
  reason: string;
}

/**
 * Threads that each run a model of their own, and the work that waits for them. Nothing is queued but what callers hold: each
 * call's texts are handed out slice by slice, in turn, so that a huge document does not hold up a small one.
 */
export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const threads = new Set<Thread>();
  const queue = createCallQueue();
  const waiting: { resolve: () => void; reject: (error: SluiceError) => void }[] = [];
  let nextSlice = 0;
  let loads = 0;
  let deaths = 0;
  let failedStarts = 0;
  let closed = false;

  function fill(): void {
    while (!closed && threads.size < options.threads) startThread();
  }

  function startThread(): void {
    const worker = options.start();
    const thread: Thread = { worker, ready: false, slices: new Map(), tokens: 0, quarantined: false, reason: '' };
    threads.add(thread);
    worker.on('message', (message: ThreadMessage) => hear(thread, message));
    worker.on('error', (error) => {
      thread.reason = error.message;
    });
    worker.on('exit', () => bury(thread));
  }

  function hear(thread: Thread, message: ThreadMessage): void {
    if (message.type === 'ready') {
      thread.ready = true;
      loads++;
      failedStarts = 0;
      if ([...threads].every((other) => other.ready)) for (const one of waiting.splice(0)) one.resolve();
    } else if (message.type === 'unusable') {
      thread.reason = message.message;
    } else {
      finish(thread, message);
    }
    dispatch();
  }

  function finish(thread: Thread, message: ThreadMessage & { type: 'done' | 'failed' }): void {
    const slice = thread.slices.get(message.slice);
    if (slice === undefined) return;
    thread.slices.delete(message.slice);
    thread.tokens -= slice.tokens;
    thread.quarantined = false;
    slice.items.forEach((item, index) => {
      const output = message.type === 'done' ? message.outputs[index] : undefined;
      if (output !== undefined) queue.settle(item, output);
      else if (message.type === 'failed')
        queue.fail(item.call, embedFailed(`The model can't run this text: ${message.message}.`));
    });
  }

  function bury(thread: Thread): void {
    threads.delete(thread);
    if (closed) return;
    deaths++;
    const reason = thread.reason || 'it ended without a reason';
    options.onDeath?.(reason);
    for (const slice of thread.slices.values()) {
      for (const item of slice.items) {
        if (++item.tries < MAX_TRIES) queue.suspect(item);
        else queue.fail(item.call, embedFailed(`The model's thread died twice of this text: ${reason}.`));
      }
    }
    if (!thread.ready && ++failedStarts >= Math.max(MAX_FAILED_STARTS, options.threads)) {
      const error = new SluiceError('model_unavailable', `The model can't be loaded: ${reason}.`);
      for (const one of waiting.splice(0)) one.reject(error);
      queue.failAll(error);
      // The next call tries again.
      failedStarts = 0;
      return;
    }
    fill();
    dispatch();
  }

  /** The least busy thread that may take work. */
  function pick(urgent: boolean): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of threads) {
      if (!thread.ready || thread.quarantined || (!urgent && thread.tokens >= AHEAD)) continue;
      if (best === undefined || thread.tokens < best.tokens) best = thread;
    }
    return best;
  }

  function dispatch(): void {
    for (;;) {
      const suspect = queue.peekSuspect();
      const free = suspect && pick(true);
      if (suspect && free?.tokens === 0) {
        queue.takeSuspect();
        free.quarantined = true;
        send(free, [suspect], true);
        continue;
      }
      const urgent = queue.hasUrgent();
      const thread = pick(urgent);
      if (thread === undefined) return;
      const items = queue.takeSlice({ texts: SLICE_TEXTS, tokens: SLICE_TOKENS, shares: options.threads });
      if (items.length === 0) return;
      send(thread, items, urgent);
    }
  }

  function send(thread: Thread, items: Item[], urgent: boolean): void {
    const slice: Slice = { items, tokens: items.reduce((sum, item) => sum + item.input.ids.length, 0) };
    const message: RunMessage = { slice: nextSlice++, inputs: items.map((item) => item.input), urgent };
    thread.slices.set(message.slice, slice);
    thread.tokens += slice.tokens;
    thread.worker.postMessage(message);
  }

  fill();
  return {
    run(inputs, { urgent = false, signal } = {}) {
      if (closed) return Promise.reject(embedFailed('The model was closed.'));
      fill();
      const outcome = queue.add(inputs, urgent, signal);
      dispatch();
      return outcome;
    },
    ready() {
      fill();
      if ([...threads].every((thread) => thread.ready)) return Promise.resolve();
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    stats: () => ({ threads: threads.size, loads, deaths }),
    async close() {
      closed = true;
      const error = embedFailed('The model was closed.');
      for (const one of waiting.splice(0)) one.reject(error);
      queue.failAll(error);
      await Promise.all([...threads].map((thread) => thread.worker.terminate()));
    },
  };
}

function embedFailed(message: string): SluiceError {
  return new SluiceError('embed_failed', message);
}
