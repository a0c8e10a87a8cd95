export * from './format-entry.js';
export * from './registry.js';
export * from './settings.js';
