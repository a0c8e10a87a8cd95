export { createFeedbackStore } from './feedback-store.js';
export { createGenerationStore, type GenerationStore } from './generation-store.js';
export { createKeyStore } from './key-store.js';
export { matchedSpans } from './matched-spans.js';
export { removeCollections } from './remove-collections.js';
export { storeSchema } from './settings.js';
export { createStore } from './store.js';
