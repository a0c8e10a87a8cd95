// Puts the embedding model into the cache that the processes share: from the hub, or from the folder that SLUICE_MODEL names.
import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '@sluice/config';
import { checkModel, createWorkplace, modelSpec, obtainModel } from '@sluice/launcher';

const { env } = process;
const config = loadConfig({ env, cwd: process.cwd() });
const spec = modelSpec(config.embedding.model);
const workplace = createWorkplace(env, (line) => console.log(line));
const wanted = join(workplace.cacheFolder, 'models', spec.name);

// The processes are told the folder by their environment, before any of them reads the configuration.
if (env.SLUICE_MODEL_NAME !== undefined && env.SLUICE_MODEL_NAME !== spec.name) {
  console.error(
    `sluice.yaml names the model ${spec.name}: set SLUICE_MODEL_NAME=${spec.name} (in .env, beside docker-compose.yml)`,
  );
  process.exit(2);
}
try {
  const found = await obtainModel(workplace, { spec, cwd: process.cwd() });
  if (found !== wanted) await copy(found);
  console.log(`the model is in ${wanted}`);
} catch (error) {
  console.error(error.message);
  console.error(
    'Or copy a folder that you have:  docker compose run --rm -v /path/to/model:/model:ro -e SLUICE_MODEL=/model model',
  );
  process.exit(1);
}

async function copy(folder) {
  await checkModel(spec, folder);
  await cp(folder, `${wanted}.new`, { recursive: true });
  await rm(wanted, { recursive: true, force: true });
  await rename(`${wanted}.new`, wanted);
}
