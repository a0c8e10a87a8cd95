export { childEnvironment } from './child-environment.js';
export type { Config, ConfigFlags, SourceConfig } from './config.js';
export { describeConfig } from './describe-config.js';
export { processEnvironment } from './environment.js';
export { loadConfig } from './load-config.js';
export { createConfiguredPolicy } from './policy.js';
export { modelChoice, requireServices } from './require-services.js';
export { ensureSecret, makeDataFolder, writeSecretFile } from './secrets.js';
export { createSourceViews } from './source-views.js';
