/** What one input of a batch came to. */
export type BatchResult<R> = { value: R } | { error: unknown };

export interface BatchQueueOptions<T, R> {
  /** Batches in progress at most. */
  concurrency: number;
  /** Inputs of the next batch at most. */
  batchSize: () => number;
  /** One result per input, in order. The signal aborts once nobody waits for the batch. A rejection fails every input of it. */
  send: (inputs: readonly T[], signal: AbortSignal) => Promise<BatchResult<R>[]>;
}

export interface BatchQueue<T, R> {
  /** Errors: the first of its inputs', or the signal's reason. */
  run(inputs: readonly T[], options?: { urgent?: boolean; signal?: AbortSignal | undefined }): Promise<R[]>;
  /** Fails what waits and aborts what is in progress. */
  close(error: Error): void;
}

interface Call<T, R> {
  inputs: readonly T[];
  next: number;
  outputs: R[];
  missing: number;
  batches: Set<Batch<T, R>>;
  resolve: (outputs: R[]) => void;
  reject: (error: unknown) => void;
}

interface Batch<T, R> {
  items: { call: Call<T, R>; index: number }[];
  control: AbortController;
}

/**
 * Gathers the inputs of concurrent calls into batches: a batch takes one input of each call in turn, so that many small calls share
 * requests and a huge one does not hold them up. Nothing waits for a batch to fill.
 */
export function createBatchQueue<T, R>(options: BatchQueueOptions<T, R>): BatchQueue<T, R> {
  const open = new Set<Call<T, R>>();
  /** Calls with inputs that are in no batch yet; the first is next. */
  let turns: Call<T, R>[] = [];
  let running = 0;

  function finish(call: Call<T, R>, end: () => void): void {
    if (!open.delete(call)) return;
    turns = turns.filter((other) => other !== call);
    for (const batch of call.batches) {
      if (batch.items.every((item) => !open.has(item.call))) batch.control.abort(new Error('nobody waits for it any more'));
    }
    end();
  }

  function takeBatch(): Batch<T, R> {
    const batch: Batch<T, R> = { items: [], control: new AbortController() };
    for (const size = options.batchSize(); batch.items.length < size; ) {
      const call = turns.shift();
      if (call === undefined) break;
      batch.items.push({ call, index: call.next++ });
      call.batches.add(batch);
      if (call.next < call.inputs.length) turns.push(call);
    }
    return batch;
  }

  async function process(batch: Batch<T, R>): Promise<void> {
    // Sound: an item's index is one of its call's inputs.
    const inputs = batch.items.map(({ call, index }) => call.inputs[index] as T);
    const results = await options
      .send(inputs, batch.control.signal)
      .catch((error: unknown) => inputs.map((): BatchResult<R> => ({ error })));
    for (const [position, { call, index }] of batch.items.entries()) {
      call.batches.delete(batch);
      const result = results[position] ?? { error: new Error('a batch gave too few results') };
      if ('error' in result) finish(call, () => call.reject(result.error));
      else {
        call.outputs[index] = result.value;
        if (--call.missing === 0) finish(call, () => call.resolve(call.outputs));
      }
    }
  }

  function pump(): void {
    while (running < options.concurrency && turns.length > 0) {
      running++;
      void process(takeBatch()).finally(() => {
        running--;
        pump();
      });
    }
  }

  return {
    run(inputs, { urgent = false, signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (inputs.length === 0) return Promise.resolve([]);
      return new Promise<R[]>((resolve, reject) => {
        const onAbort = () => finish(call, () => reject(signal?.reason));
        const end =
          <V>(then: (value: V) => void) =>
          (value: V) => {
            signal?.removeEventListener('abort', onAbort);
            then(value);
          };
        const call: Call<T, R> = {
          inputs,
          next: 0,
          outputs: new Array<R>(inputs.length),
          missing: inputs.length,
          batches: new Set(),
          resolve: end(resolve),
          reject: end(reject),
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        open.add(call);
        if (urgent) turns.unshift(call);
        else turns.push(call);
        pump();
      });
    },
    close(error) {
      for (const call of [...open]) finish(call, () => call.reject(error));
    },
  };
}
