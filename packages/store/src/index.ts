export { createFeedbackStore } from './feedback-store.js';
export { createKeyStore } from './key-store.js';
export { matchedSpans } from './matched-spans.js';
export { storeSchema } from './settings.js';
export { createStore } from './store.js';
