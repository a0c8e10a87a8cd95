import type { FactCache } from '@sluice/chunking';
import { type Embedder, type Llm, SluiceError } from '@sluice/core';
import type { Calls, FromProcess, ProcessOptions, Question, ToProcess } from './document-messages.js';
import { fromWire } from './wire-error.js';

export interface WorkerCalls {
  embedder: Embedder;
  llm: Llm | undefined;
  facts: FactCache;
  /** Takes what the worker answered. */
  settle(message: Exclude<ToProcess, { type: 'read' }>): void;
}

/** The worker's side of the ports, in the process that parses: each call is a message and waits for its answer. */
export function createWorkerCalls(options: ProcessOptions, send: (message: FromProcess) => void): WorkerCalls {
  const open = new Map<number, { resolve: (answer: unknown) => void; reject: (cause: unknown) => void }>();
  let last = 0;

  function ask<Name extends keyof Calls>(name: Name, ...given: Parameters<Calls[Name]>): Promise<ReturnType<Calls[Name]>> {
    last += 1;
    const call = last;
    return new Promise((resolve, reject) => {
      // Sound: the worker answers a call with what Calls says of it (answer-calls.ts).
      open.set(call, { resolve: (answer) => resolve(answer as ReturnType<Calls[Name]>), reject });
      send({ type: 'ask', call, question: { name, given } as Question });
    });
  }

  return {
    embedder: { ...options.embedder, embed: (texts) => ask('embed', [...texts]) },
    llm:
      options.llm === undefined
        ? undefined
        : {
            id: options.llm.id,
            complete: (request) => ask('complete', request),
            stream() {
              throw new SluiceError('internal', 'a parsing process has no use for streamed answers');
            },
          },
    facts: { get: (key) => ask('knownFacts', key), set: (key, facts) => ask('keepFacts', key, facts) },
    settle(message) {
      const call = open.get(message.call);
      open.delete(message.call);
      if (message.type === 'answer') call?.resolve(message.answer);
      else call?.reject(fromWire(message.error));
    },
  };
}
