export { childEnvironment, type Services } from './child-environment.js';
export {
  type Config,
  type ConfigFlags,
  type Environment,
  LOG_LEVELS,
  type LogLevel,
  type RuleConfig,
  type RuntimeConfig,
  type SourceConfig,
} from './config.js';
export { describeConfig } from './describe-config.js';
export { processEnvironment } from './environment.js';
export { type ConfigInput, loadConfig } from './load-config.js';
export { createConfiguredPolicy } from './policy.js';
export type { Problem } from './problems.js';
export { type RequiredServices, requireServices } from './require-services.js';
export { createSourceViews } from './source-views.js';
