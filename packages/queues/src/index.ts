export { type Control, type ControlView, createControl, type WatchedSourceState } from './control.js';
export { createFences, type FencesOptions } from './fences.js';
export type { StandingWorker } from './heartbeat.js';
export * from './reconcile-queue.js';
export * from './reconcile-worker.js';
export { checkRedis, createRedis, type Redis, type RedisOptions } from './redis.js';
export * from './settings.js';
