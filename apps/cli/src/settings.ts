import { resolve } from 'node:path';
import { type Config, loadConfig } from '@sluice/config';
import { createWorkplace, modelSpec, obtainModel } from '@sluice/launcher';
import type { Context } from './context.js';

export type Place = Pick<Context, 'env' | 'cwd' | 'flags'>;

/** The configuration, for commands that work without a running instance. Error `invalid_configuration` lists all problems. */
export function configOf({ env, cwd, flags }: Place): Config {
  return loadConfig({ flags, env, cwd });
}

/** Data folder of the instance; commands that talk to a running one must work whatever the configuration file says by now. */
export function dataFolderOf({ env, cwd, flags }: Place): string {
  return resolve(cwd, flags.data ?? env.SLUICE_DATA ?? '.sluice');
}

/** Folder of the embedding model, installed when it is missing. */
export async function modelFolderOf(context: Context, { embedding, runtime }: Config): Promise<string> {
  const workplace = createWorkplace(context.env, (line) => context.output.note(line), context.signal);
  const choice = embedding.path ?? runtime.provision.model;
  return obtainModel(workplace, { spec: modelSpec(embedding.model), choice, cwd: context.cwd });
}
