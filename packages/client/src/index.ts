export type { components, paths } from './api.generated.js';
export * from './client.js';
