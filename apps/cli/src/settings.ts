import type { Config } from '@sluice/config';
import type { ModelChoice } from '@sluice/models';
import type { Context } from './context.js';
import type { Place } from './data-folder.js';

/** The configuration, for commands that work without a running instance. Error `invalid_configuration` lists all problems. */
export async function configOf({ env, cwd, flags }: Place): Promise<Config> {
  const { loadConfig } = await import('@sluice/config');
  return loadConfig({ flags, env, cwd });
}

/** The embedding model. One that runs here is installed when it is missing. */
export async function modelOf(context: Context, config: Config): Promise<ModelChoice> {
  const { embedding, runtime } = config;
  const { modelChoice } = await import('@sluice/config');
  if (embedding.endpoint !== undefined) return modelChoice(config);
  const { createWorkplace, modelSpec, obtainModel } = await import('@sluice/launcher');
  const workplace = createWorkplace(context.env, (line) => context.output.note(line), context.signal);
  const choice = embedding.path ?? runtime.provision.model;
  const folder = await obtainModel(workplace, { spec: modelSpec(embedding.model), choice, cwd: context.cwd });
  return modelChoice(config, folder);
}
