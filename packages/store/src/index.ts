export { createKeyStore } from './key-store.js';
export { storeSchema } from './settings.js';
export { createStore } from './store.js';
