import { homedir } from 'node:os';
import { join } from 'node:path';

/** Environment variables as given by whoever starts: the launcher reads no environment of its own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where and under which rules services are found, installed and started. */
export interface Workplace {
  env: Environment;
  /** The user's cache: what is installed once for all instances. */
  cacheFolder: string;
  /** No request leaves the machine. */
  offline: boolean;
  /** One line for a human: what is being done, or why a step failed and what comes next. */
  say(line: string): void;
  signal?: AbortSignal;
}

/** `$XDG_CACHE_HOME/sluice`, else `~/.cache/sluice`. */
export function cacheFolder(env: Environment): string {
  const base = env.XDG_CACHE_HOME;
  if (base?.startsWith('/')) return join(base, 'sluice');
  return join(env.HOME ?? homedir(), '.cache', 'sluice');
}

export function createWorkplace(env: Environment, say: (line: string) => void, signal?: AbortSignal): Workplace {
  const offline = env.SLUICE_OFFLINE === '1' || env.SLUICE_OFFLINE === 'true';
  return { env, cacheFolder: cacheFolder(env), offline, say, ...(signal === undefined ? {} : { signal }) };
}
