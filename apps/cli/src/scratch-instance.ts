import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { scanAll, waitUntilIdle } from './commands/status.js';
import type { Context } from './context.js';
import { findApi } from './find-api.js';
import type { Api } from './responses.js';

/** An instance of its own, with data and collections of its own: whatever is done to it, the live one stays as it is. */
export interface ScratchInstance {
  api: Api;
  /** Stops it; what it ingested stays for the next start. */
  stop(): Promise<void>;
}

/**
 * Starts an instance on a folder and waits until it has ingested its sources.
 *
 * @throws SluiceError `not_ready` where it does not start
 */
export async function startScratch(context: Context, folder: string, configuration: string): Promise<ScratchInstance> {
  const { output, signal } = context;
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, configuration);
  // The live instance's address, key and port are not this one's.
  const { SLUICE_URL: _url, SLUICE_API_KEY: _key, SLUICE_PORT: _port, SLUICE_NAMESPACE: _namespace, ...shared } = context.env;
  const env = { ...shared, SLUICE_CONFIG: config, SLUICE_DATA: join(folder, 'data') };
  const place = { env, cwd: folder, flags: {}, signal };
  const { startDetached, stopInstance } = await import('@sluice/launcher');
  const started = await startDetached({ ...place, write: (line) => output.progress(line) });
  if (started.outcome === 'failed') {
    throw new SluiceError(
      'not_ready',
      `the scratch instance in ${folder} did not start: ${started.error?.message ?? 'see its log'}`,
    );
  }
  const stop = async () => {
    await stopInstance(env.SLUICE_DATA, { env });
  };
  try {
    const api = await findApi(place);
    await waitUntilIdle(context, api, await scanAll(api), undefined);
    return { api, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Removes what a scratch instance left behind. In a Weaviate that serves others too, those are its collections. */
export async function removeScratch({ env }: Pick<Context, 'env'>, folder: string): Promise<void> {
  const url = env.WEAVIATE_URL;
  const namespace = await readFile(join(folder, 'data', 'namespace'), 'utf8').catch(() => '');
  if (url !== undefined && url !== '' && namespace.trim() !== '') {
    const { removeCollections } = await import('@sluice/store');
    await removeCollections(url, namespace.trim(), env.WEAVIATE_API_KEY);
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
