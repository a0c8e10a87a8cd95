import type { Config } from '@sluice/config';
import { type Clock, type Reranker, SluiceError } from '@sluice/core';
import { createWorkplace, type Environment, modelSpec, obtainModel } from '@sluice/launcher';
import { createRerankEndpoint, createReranker, type LocalReranker } from '@sluice/models';
import type { Logger } from '@sluice/telemetry';

/** After a failure the model is tried again no sooner than this. */
const RETRY_MS = 60_000;

interface Surroundings {
  env: Environment;
  clock: Clock;
  logger: Logger;
}

/**
 * The reranker that `rerank` of the configuration names; undefined without that section. A local model loads in the background, from
 * its folder, the cache or the hub: until it is there its `rerank` fails with `not_ready`, so that search is never held up by it.
 */
export function createConfiguredReranker(
  config: Pick<Config, 'rerank' | 'runtime'>,
  { env, clock, logger }: Surroundings,
): { reranker?: Reranker; close(): Promise<void> } {
  const { rerank, runtime } = config;
  if (rerank === undefined) return { close: async () => {} };
  const { model, path, baseUrl, apiKey } = rerank;
  if (baseUrl !== undefined) return { reranker: createRerankEndpoint({ baseUrl, model, apiKey }), close: async () => {} };

  const stop = new AbortController();
  const load = async () => {
    const offline = runtime.offline ? { SLUICE_OFFLINE: '1' } : {};
    const workplace = createWorkplace({ ...env, ...offline }, (line) => logger.info(line), stop.signal);
    const choice = path ?? 'hub';
    const folder = await obtainModel(workplace, { spec: modelSpec(model), choice, cwd: '/' });
    return createReranker({ folder, threads: 1, logger });
  };
  const reranker = loadInBackground(model, load, { clock, logger });
  return {
    reranker,
    async close() {
      stop.abort();
      await reranker.close();
    },
  };
}

function loadInBackground(
  id: string,
  load: () => Promise<LocalReranker>,
  { clock, logger }: Omit<Surroundings, 'env'>,
): LocalReranker {
  let loaded: LocalReranker | undefined;
  let loading: Promise<void> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function attempt() {
    try {
      loaded = await load();
    } catch (error) {
      failedAt = clock.monotonic();
      if (!closed) logger.warn({ err: error, model: id }, 'the rerank model is not available');
    } finally {
      loading = undefined;
    }
  }
  function begin() {
    if (loaded === undefined && !closed && clock.monotonic() - failedAt >= RETRY_MS) loading ??= attempt();
  }
  begin();
  return {
    id,
    async rerank(query, texts, signal) {
      begin();
      if (loaded === undefined) throw new SluiceError('not_ready', `the rerank model ${id} is not loaded`);
      return loaded.rerank(query, texts, signal);
    },
    async close() {
      closed = true;
      await loading;
      await loaded?.close();
    },
  };
}
