/** Something to be written, with its size in bytes. */
export interface Sized {
  bytes: number;
}

export interface BatcherOptions<Item extends Sized> {
  /** Sends one batch and returns, for each item in order, nothing or the error it met. Throws when none was written, or who knows. */
  send(items: readonly Item[]): Promise<readonly (Error | undefined)[]>;
  maxItems: number;
  maxBytes: number;
  /** Batches in flight at once. A second one starts only when the waiting items fill it: else they share the next one. */
  maxInFlight: number;
}

export interface Batcher<Item extends Sized> {
  /** Resolves when every item is acknowledged; rejects with the first error of one of its own items. */
  write(items: readonly Item[]): Promise<void>;
}

interface Call<Item> {
  items: readonly Item[];
  next: number;
  acknowledged: number;
  error: Error | undefined;
  finish(): void;
}

/** Items of one call in a batch while others wait: a large document must not hold up small ones. */
const TURN = 25;

/**
 * Group commit: what is written while a batch is in flight goes out together in the next one; what is written while none is goes out at
 * once. Calls take turns, so that a small call does not wait for a large one.
 */
export function createBatcher<Item extends Sized>(options: BatcherOptions<Item>): Batcher<Item> {
  const calls: Call<Item>[] = [];
  let inFlight = 0;

  function pump(): void {
    while (calls.length > 0 && (inFlight === 0 || (inFlight < options.maxInFlight && isBatchFull()))) {
      const batch = takeBatch();
      inFlight++;
      void sendBatch(batch).finally(() => {
        inFlight--;
        pump();
      });
    }
  }

  function isBatchFull(): boolean {
    let count = 0;
    let bytes = 0;
    for (const call of calls) {
      for (let i = call.next; i < call.items.length; i++) {
        count++;
        bytes += call.items[i]?.bytes ?? 0;
        if (count >= options.maxItems || bytes >= options.maxBytes) return true;
      }
    }
    return false;
  }

  function takeBatch(): { call: Call<Item>; item: Item }[] {
    const batch: { call: Call<Item>; item: Item }[] = [];
    let bytes = 0;
    while (calls.length > 0 && batch.length < options.maxItems) {
      const call = calls.shift() as Call<Item>; // the loop's condition says there is one
      const turn = calls.length === 0 ? options.maxItems : TURN;
      let taken = 0;
      let full = false;
      while (call.next < call.items.length && taken < turn && batch.length < options.maxItems) {
        const item = call.items[call.next] as Item; // below the length
        full = batch.length > 0 && bytes + item.bytes > options.maxBytes;
        if (full) break;
        batch.push({ call, item });
        bytes += item.bytes;
        call.next++;
        taken++;
      }
      if (call.next < call.items.length) calls.push(call);
      if (full) break;
    }
    return batch;
  }

  async function sendBatch(batch: readonly { call: Call<Item>; item: Item }[]): Promise<void> {
    let errors: readonly (Error | undefined)[];
    try {
      errors = await options.send(batch.map(({ item }) => item));
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      errors = batch.map(() => failure);
    }
    for (const [i, { call }] of batch.entries()) {
      call.error ??= errors[i];
      call.acknowledged++;
    }
    for (const call of new Set(batch.map((entry) => entry.call))) {
      // A call that failed sends nothing more: its document will be written again under another attempt.
      if (call.error !== undefined) {
        const at = calls.indexOf(call);
        if (at >= 0) calls.splice(at, 1);
        if (call.acknowledged >= call.next) call.finish();
      } else if (call.acknowledged === call.items.length) call.finish();
    }
  }

  return {
    write(items) {
      if (items.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const call: Call<Item> = {
          items,
          next: 0,
          acknowledged: 0,
          error: undefined,
          finish: () => (call.error === undefined ? resolve() : reject(call.error)),
        };
        calls.push(call);
        // Calls made in the same turn of the event loop share a batch; nobody waits for a timer.
        queueMicrotask(pump);
      });
    },
  };
}
