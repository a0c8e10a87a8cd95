export { createEmbedder, type LocalEmbedder } from './embedder.js';
export {
  abortBuild,
  beginBuild,
  expire,
  followedGenerations,
  followingGenerations,
  type Generation,
  type Generations,
  generationSchema,
  generationsSchema,
  rollBack,
  switchToNext,
} from './generations.js';
export { type GenerationWork, keepGenerations } from './keep-generations.js';
export { modelFiles } from './model-files.js';
export {
  type EndpointChoice,
  type ModelChoice,
  type ModelIdentity,
  modelIdentity,
  openModel,
  openTokenizer,
  resolveModel,
} from './open-model.js';
export { createRerankEndpoint } from './rerank-endpoint.js';
export { createReranker, type LocalReranker } from './reranker.js';
export * from './settings.js';
export { createTokenizer, modelTokens } from './tokenizer.js';
