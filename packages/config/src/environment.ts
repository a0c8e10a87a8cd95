import type { Environment } from './config.js';

/** The environment of this process. Programs hand it to loadConfig; nothing else reads it. */
export function processEnvironment(): Environment {
  return process.env;
}
