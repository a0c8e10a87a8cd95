export * from './deps.js';
export { documentFilter } from './document-filter.js';
export { decisiveRecords, mayKnow, mayKnowOf } from './may-know.js';
export { fitQuery as fitText } from './query.js';
export * from './reading.js';
export * from './retrieval.js';
export * from './settings.js';
export * from './text-of.js';
export * from './types.js';
