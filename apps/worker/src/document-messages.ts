import type { Chunk, ErrorCode, FaultKind, ReadRequest, ReadResult } from '@sluice/core';

/** What travels between the worker and the process that parses. Chunks go in slices, so that a huge document is never one message. */
export type ToProcess =
  | { type: 'read'; request: Omit<ReadRequest, 'onProgress'> }
  | { type: 'embedded'; call: number; vectors: Float32Array[] }
  | { type: 'embed_failed'; call: number; error: WireError };

export type FromProcess =
  | { type: 'ready' }
  | { type: 'progress'; share: number }
  | { type: 'embed'; call: number; texts: string[] }
  | { type: 'chunks'; chunks: Chunk[] }
  | { type: 'done'; result: Omit<ReadResult, 'chunks'> }
  | { type: 'failed'; error: WireError };

export interface WireError {
  code: ErrorCode;
  kind: FaultKind;
  message: string;
  details?: Record<string, unknown>;
}

/** What the process is started with, as JSON in its first argument. */
export interface ProcessOptions {
  modelFolder: string;
  /** Embedder of the worker, which the process calls for strategies that compare sentences. */
  embedder: { id: string; dimensions: number; maxTokens: number };
}
