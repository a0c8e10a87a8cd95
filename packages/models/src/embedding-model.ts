import type { Embedder, Tokenizer } from '@sluice/core';

/** How texts are embedded. */
interface EmbedOptions {
  /** A reader waits for it, so it goes before everything that waits. */
  urgent?: boolean;
  /** What the texts are, for models that put a prefix before each kind. Default `passage`. */
  as?: 'passage' | 'query';
}

/** An embedding model that runs here or behind an endpoint. Both are used alike. */
export interface EmbeddingModel extends Embedder {
  /** Counts passages, their prefix included. */
  readonly tokenizer: Tokenizer;
  /** Counts queries, their prefix included. */
  readonly queryTokenizer: Tokenizer;
  /**
   * One vector of length 1 per text, in order.
   * Errors: `limit_exceeded` for a text over maxTokens, naming its count; `embed_failed`; `model_unavailable`; the signal's reason.
   */
  embed(texts: readonly string[], signal?: AbortSignal, options?: EmbedOptions): Promise<Float32Array[]>;
  /** Ends what belongs to it. Texts in progress fail with `embed_failed`. */
  close(): Promise<void>;
}
