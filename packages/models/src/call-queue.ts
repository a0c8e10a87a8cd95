import type { SluiceError } from '@sluice/core';
import type { ModelInput } from './thread-messages.js';

/** One call and what it still waits for. */
interface Call {
  inputs: readonly ModelInput[];
  urgent: boolean;
  /** Inputs handed out. */
  taken: number;
  outputs: (Float32Array | undefined)[];
  missing: number;
  resolve: (outputs: Float32Array[]) => void;
  reject: (error: unknown) => void;
}

/** One input of a call. */
export interface Item {
  call: Call;
  index: number;
  input: ModelInput;
  /** Threads that died while they held it. */
  tries: number;
}

export interface CallQueue {
  add(inputs: readonly ModelInput[], urgent: boolean, signal?: AbortSignal): Promise<Float32Array[]>;
  hasUrgent(): boolean;
  /** Inputs of one call: the oldest urgent one, else the one whose turn it is; at most its share, so that threads end together. */
  takeSlice(limits: { texts: number; tokens: number; shares: number }): Item[];
  settle(item: Item, output: Float32Array): void;
  fail(call: Call, error: SluiceError): void;
  failAll(error: SluiceError): void;
  /** Keeps an item that must run alone. */
  suspect(item: Item): void;
  peekSuspect(): Item | undefined;
  takeSuspect(): Item | undefined;
}

/** The calls that wait for a model, in turn. Holds no texts of its own. */
export function createCallQueue(): CallQueue {
  const open = new Set<Call>();
  /** Calls with inputs not handed out; the first is next. */
  let turns: Call[] = [];
  let suspects: Item[] = [];

  function drop(call: Call): void {
    open.delete(call);
    turns = turns.filter((other) => other !== call);
    suspects = suspects.filter((item) => item.call !== call);
  }

  function fail(call: Call, error: unknown): void {
    if (!open.has(call)) return;
    drop(call);
    call.reject(error);
  }

  return {
    add(inputs, urgent, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (inputs.length === 0) return Promise.resolve([]);
      return new Promise<Float32Array[]>((resolve, reject) => {
        const onAbort = () => fail(call, signal?.reason);
        const end =
          <T>(then: (value: T) => void) =>
          (value: T) => {
            signal?.removeEventListener('abort', onAbort);
            then(value);
          };
        const outputs = new Array<Float32Array | undefined>(inputs.length);
        const call: Call = {
          inputs,
          urgent,
          taken: 0,
          outputs,
          missing: inputs.length,
          resolve: end(resolve),
          reject: end(reject),
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        open.add(call);
        turns.push(call);
      });
    },
    hasUrgent: () => turns.some((call) => call.urgent),
    takeSlice({ texts, tokens, shares }) {
      const call = turns.find((other) => other.urgent) ?? turns[0];
      if (call === undefined) return [];
      turns = turns.filter((other) => other !== call);
      const items: Item[] = [];
      const share = Math.min(texts, Math.ceil((call.inputs.length - call.taken) / shares));
      for (let held = 0; items.length < share && held < tokens; ) {
        const input = call.inputs[call.taken];
        if (input === undefined) break;
        items.push({ call, index: call.taken++, input, tries: 0 });
        held += input.ids.length;
      }
      if (call.taken < call.inputs.length) turns.push(call);
      return items;
    },
    settle(item, output) {
      const { call } = item;
      if (!open.has(call)) return;
      call.outputs[item.index] = output;
      if (--call.missing > 0) return;
      drop(call);
      call.resolve(call.outputs as Float32Array[]); // none is missing
    },
    fail,
    failAll(error) {
      for (const call of [...open]) fail(call, error);
    },
    suspect(item) {
      if (open.has(item.call)) suspects.push(item);
    },
    peekSuspect: () => suspects[0],
    takeSuspect: () => suspects.shift(),
  };
}
