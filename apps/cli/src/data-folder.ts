import { resolve } from 'node:path';
import type { Context } from './context.js';

export type Place = Pick<Context, 'env' | 'cwd' | 'flags'>;

/** Data folder of the instance; commands that talk to a running one must work whatever the configuration file says by now. */
export function dataFolderOf({ env, cwd, flags }: Place): string {
  return resolve(cwd, flags.data ?? env.SLUICE_DATA ?? '.sluice');
}
