/** Counts the word pieces of the embedding model. Synchronous: counting runs where chunking runs, off the main thread. */
export interface Tokenizer {
  /** Identity with version, part of the fingerprint. */
  readonly id: string;
  /** Word pieces of the text with the special tokens. Never cuts. */
  count(text: string): number;
  /** Start and end offsets (UTF-16 units of `text`) of each word piece, special tokens left out. Ends never decrease. */
  offsets(text: string): { start: number; end: number }[];
  /** The largest count() the model takes, special tokens included (256 for MiniLM). */
  readonly maxTokens: number;
  /** Number of special tokens that count() adds (2 for BERT). */
  readonly specialTokens: number;
}

/** Turns texts into unit vectors. */
export interface Embedder {
  /** Identity: model id, hash of its file, engine version, pooling. Part of the fingerprint. */
  readonly id: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  /**
   * One vector of length 1 a text, in the order of the texts. Each text is run by itself, so that a text's vector never depends
   * on its neighbours. A text over maxTokens is an error (`limit_exceeded`), never cut.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** Of a model behind an endpoint: rejects while the endpoint does not answer, or refuses everything. */
  checkReady?(signal?: AbortSignal): Promise<void>;
}

export interface Reranker {
  readonly id: string;
  /** One score in 0..1 a text, in the order of the texts. */
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>;
}

export interface LlmMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** Tokens of one call, as the endpoint counted them; both 0 when it says nothing. */
export interface LlmTokens {
  prompt_tokens: number;
  completion_tokens: number;
}

/** A part of a streamed answer: text as it comes, and the tokens of the call once, if the endpoint counts them. */
export type LlmPart = { text: string } | { usage: LlmTokens };

export interface Llm {
  readonly id: string;
  complete(
    request: { messages: LlmMessage[]; maxTokens?: number; temperature?: number; json?: boolean },
    signal?: AbortSignal,
  ): Promise<{ text: string; usage: LlmTokens }>;
  stream(
    request: { messages: LlmMessage[]; maxTokens?: number; temperature?: number },
    signal?: AbortSignal,
  ): AsyncIterable<LlmPart>;
}
