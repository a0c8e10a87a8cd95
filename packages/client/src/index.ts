export { readAnswerEvents } from './answer-events.js';
export type { components, paths } from './api.generated.js';
export * from './client.js';
