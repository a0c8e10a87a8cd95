import { join } from 'node:path';
import { readBareFolders } from './bare-folders.js';
import { buildConfig } from './build-config.js';
import { checkFile } from './check-file.js';
import type { Config, ConfigFlags, Environment } from './config.js';
import { absolutePath, pathKind } from './paths.js';
import { configurationError, type Problem } from './problems.js';
import { given, readRuntime } from './runtime.js';

const FILE_NAME = 'sluice.yaml';

export interface ConfigInput {
  flags?: ConfigFlags;
  /** The environment: `process.env`. */
  env: Environment;
  /** The folder that paths of flags and variables are relative to, and where sluice.yaml is looked for. */
  cwd: string;
}

/**
 * Reads the configuration: flags over environment over sluice.yaml over defaults. The only reader of the environment besides the start
 * scripts. Without a file the folder `./inbox` is watched, at level 1.
 *
 * @throws SluiceError `invalid_configuration` with all problems, each with its path and, for the file, its line; `details.problems` has
 *   them as data. No value of a secret is repeated.
 */
export function loadConfig(input: ConfigInput): Config {
  const flags = input.flags ?? {};
  const problems: Problem[] = [];
  const runtime = readRuntime(flags, input.env, input.cwd, problems);
  const folders = readBareFolders(flags.sources, input.env, input.cwd, problems);
  const context = {
    cwd: input.cwd,
    home: input.env.HOME,
    // SLUICE_MODEL wins over the file, also when it names a way of fetching the model.
    modelFolder: runtime.provision.model === 'auto' ? undefined : (runtime.modelFolder ?? null),
  };
  const checked = checkFile(findFile(flags, input, problems), context, problems);
  const config = buildConfig({ flags, env: input.env, cwd: input.cwd, runtime, folders, checked, problems });
  if (problems.length > 0) throw configurationError(problems);
  return config;
}

function findFile(flags: ConfigFlags, { env, cwd }: ConfigInput, problems: Problem[]): string | undefined {
  const named = flags.config ?? given(env.SLUICE_CONFIG);
  if (named !== undefined) {
    const file = absolutePath(cwd, named, env.HOME);
    if (pathKind(file) === 'file') return file;
    const fromFlag = flags.config !== undefined;
    const origin = fromFlag ? 'command line' : 'environment';
    problems.push({ origin, path: fromFlag ? '--config' : 'SLUICE_CONFIG', message: `no file ${file}` });
    return undefined;
  }
  const file = join(cwd, FILE_NAME);
  if (pathKind(file) === 'file') return file;
  // Passed over in silence it would mean: everything readable at level 1.
  const misnamed = ['sluice.yml', '.sluice.yaml', '.sluice.yml', 'sluice.json'].find(
    (name) => pathKind(join(cwd, name)) === 'file',
  );
  if (misnamed !== undefined) {
    problems.push({
      origin: misnamed,
      path: '',
      message: `the configuration file is named ${FILE_NAME}: rename it, or set SLUICE_CONFIG`,
    });
  }
  return undefined;
}
