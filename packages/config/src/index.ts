export { childEnvironment, type Services } from './child-environment.js';
export type { Config, ConfigFlags, Environment, SourceConfig } from './config.js';
export { describeConfig } from './describe-config.js';
export { processEnvironment } from './environment.js';
export { loadConfig } from './load-config.js';
export { createConfiguredPolicy } from './policy.js';
export type { Problem } from './problems.js';
export { requireServices } from './require-services.js';
export { createSourceViews } from './source-views.js';
