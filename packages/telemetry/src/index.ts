export * from './instance-metrics.js';
export * from './logger.js';
export * from './metrics.js';
