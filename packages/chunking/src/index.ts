export { type ChunkingRate, measureChunking } from './bench.js';
export { type ChunkingCaches, createChunkingCaches } from './caches.js';
export { type ChunkingDeps, checkChunking, chunkDocument } from './chunk-document.js';
export { chunkerIdentity } from './identity.js';
export { createFactCache, type FactCache } from './propositions/fact-cache.js';
export {
  type CheckedSettings,
  chunkingSchema,
  createChunkingSchema,
  DEFAULT_MODEL_TOKENS,
  type SettingsOf,
  STRATEGIES,
  type Strategy,
} from './settings.js';
export { chunkerVersion } from './strategies/registry.js';
export { createVectorCache, type VectorCache } from './strategies/sentence-vectors.js';
export { type CountCache, createCountCache } from './text/counts.js';
export { createSentenceSplitter, type SentenceSplitter, type Span } from './text/sentences.js';
