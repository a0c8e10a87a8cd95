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
export { type ConfigInput, loadConfig } from './load-config.js';
export type { Problem } from './problems.js';
