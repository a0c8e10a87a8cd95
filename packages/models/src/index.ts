export { type EmbeddingRates, measureEmbedding } from './bench.js';
export * from './embedder.js';
export { type ModelFiles, modelFiles } from './model-files.js';
export { createRerankEndpoint } from './rerank-endpoint.js';
export { createReranker, type LocalReranker, type RerankerOptions } from './reranker.js';
export * from './settings.js';
export { createTokenizer, type ModelTokenizer, modelTokens, type TokenizerOptions } from './tokenizer.js';
