export * from './chat-server.js';
export * from './collections.js';
export * from './memory-store.js';
export * from './seed-store.js';
export * from './services.js';
export * from './stored-document.js';
export * from './telescope-facts.js';
export * from './word-models.js';
