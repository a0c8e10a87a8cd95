export { createChunkingCaches } from './caches.js';
export { type ChunkingDeps, chunkDocument } from './chunk-document.js';
export { chunkerIdentity } from './identity.js';
export { createFactCache, type FactCache } from './propositions/fact-cache.js';
export { createChunkingSchema, STRATEGIES } from './settings.js';
