export { type Control, createControl, type WatchedSourceState } from './control.js';
export { createFences } from './fences.js';
export type { JobContext } from './job-runner.js';
export { createKeyUse, type KeyUse } from './key-use.js';
export * from './reconcile-queue.js';
export * from './reconcile-worker.js';
export { checkRedis, createRedis } from './redis.js';
export * from './settings.js';
