import type { Config } from '@sluice/config';
import type { Context } from './context.js';
import type { Place } from './data-folder.js';

/** The configuration, for commands that work without a running instance. Error `invalid_configuration` lists all problems. */
export async function configOf({ env, cwd, flags }: Place): Promise<Config> {
  const { loadConfig } = await import('@sluice/config');
  return loadConfig({ flags, env, cwd });
}

/** Folder of the embedding model, installed when it is missing. */
export async function modelFolderOf(context: Context, { embedding, runtime }: Config): Promise<string> {
  const { createWorkplace, modelSpec, obtainModel } = await import('@sluice/launcher');
  const workplace = createWorkplace(context.env, (line) => context.output.note(line), context.signal);
  const choice = embedding.path ?? runtime.provision.model;
  return obtainModel(workplace, { spec: modelSpec(embedding.model), choice, cwd: context.cwd });
}
