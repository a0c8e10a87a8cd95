import type { Chunk, ErrorCode, FaultKind, Llm, ReadRequest, ReadResult } from '@sluice/core';
import type { openTokenizer } from '@sluice/models';

/**
 * What the parsing process asks its worker for. The model, the language model with its key, and the facts that were written before are
 * the worker's: there once for all its processes, and alive when one of them is killed.
 */
export interface Calls {
  embed(texts: string[]): Float32Array[];
  complete(request: Parameters<Llm['complete']>[0]): Awaited<ReturnType<Llm['complete']>>;
  knownFacts(key: string): string[] | undefined;
  keepFacts(key: string, facts: string[]): void;
}

/** One of the calls, with what it is given. */
export type Question = { [Name in keyof Calls]: { name: Name; given: Parameters<Calls[Name]> } }[keyof Calls];

/** What travels between the worker and the process that parses. Chunks go in slices, so that a huge document is never one message. */
export type ToProcess =
  | { type: 'read'; request: Omit<ReadRequest, 'onProgress'> }
  | { type: 'answer'; call: number; answer: unknown }
  | { type: 'refusal'; call: number; error: WireError };

export type FromProcess =
  /** Sent once, when the process can read. */
  | { type: 'ready' }
  | { type: 'progress'; share: number }
  | { type: 'ask'; call: number; question: Question }
  | { type: 'chunks'; chunks: Chunk[] }
  /** With the last of the chunks. */
  | { type: 'done'; result: ReadResult }
  | { type: 'failed'; error: WireError };

export interface WireError {
  code: ErrorCode;
  kind: FaultKind;
  message: string;
  details?: Record<string, unknown>;
}

/** What the process is started with, as JSON in its first argument: every user of the machine can read it, so no secret is in it. */
export interface ProcessOptions {
  tokenizer: Parameters<typeof openTokenizer>[0];
  /** Embedder of the worker, which the process calls for strategies that compare sentences. */
  embedder: { id: string; dimensions: number; maxTokens: number };
  /** Language model of the worker, where one is configured. */
  llm?: { id: string };
}
