import type { Config } from '@sluice/config';
import { readRunFile, runningSupervisor } from '../instance/run-file.js';
import { modelSpec } from '../provision/models.js';
import { localModel } from '../provision/obtain-model.js';
import type { Environment } from '../system/workplace.js';
import { type Check, ok } from './check.js';
import { checkRoot, countFolders } from './folders.js';
import { checkDisk, checkNode, checkPort, checkWatches } from './machine.js';
import { checkApi, checkModelFiles, checkRedis, checkWeaviate } from './services.js';

export interface DiagnoseOptions {
  config: Config;
  env: Environment;
}

/** Looks at everything an instance stands on, running or not. Starts, installs and changes nothing. */
export async function diagnose({ config, env }: DiagnoseOptions): Promise<Check[]> {
  const { runtime, api, sources } = config;
  const runFile = await readRunFile(runtime.dataFolder);
  const supervisor = runningSupervisor(runFile);
  const running = supervisor === undefined ? undefined : runFile;
  const spec = modelSpec(config.embedding.model);
  const polled = sources.filter((source) => source.polling === true);
  const watched = sources.filter((source) => !polled.includes(source));
  const folders = await Promise.all(watched.map((source) => countFolders(source.path)));
  const weaviate =
    runtime.weaviateUrl === undefined ? running?.services.weaviate : { url: runtime.weaviateUrl, apiKey: runtime.weaviateApiKey };
  const instance = supervisor === undefined ? 'nothing runs' : `process ${supervisor.pid} runs`;
  const looked = await Promise.all([
    checkPort(api.port, api.portIsSet, running?.api),
    checkDisk(runtime.dataFolder),
    checkRedis(runtime.redisUrl ?? running?.services.redis?.url, runtime.redisUrl !== undefined),
    checkWeaviate(weaviate, runtime.weaviateUrl !== undefined),
    config.embedding.endpoint !== undefined
      ? ok('model', `${config.embedding.model} at ${new URL(config.embedding.endpoint.baseUrl).host}`)
      : checkModelFiles(
          spec,
          config.embedding.path ?? runtime.modelFolder ?? running?.modelFolder ?? (await localModel(spec, env)),
        ),
    checkApi(running?.api),
    checkWatches(folders.reduce((sum, count) => sum + count, 0)),
    ...sources.map((source) => checkRoot(source.name, source.path)),
  ]);
  return [checkNode(process.versions.node), ok('instance', `${instance} on ${runtime.dataFolder}`), ...looked];
}
