export { createFeedbackStore } from './feedback-store.js';
export { createKeyStore } from './key-store.js';
export { matchedSpans } from './matched-spans.js';
export { removeCollections } from './remove-collections.js';
export { storeSchema } from './settings.js';
export { createStore } from './store.js';
