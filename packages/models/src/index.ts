export * from './settings.js';
export * from './tokenizer.js';
