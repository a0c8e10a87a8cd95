export * from './deps.js';
export * from './reading.js';
export * from './retrieval.js';
export * from './settings.js';
export * from './text-of.js';
export * from './types.js';
