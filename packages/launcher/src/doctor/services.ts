import type { ModelSpec } from '../provision/models.js';
import { checkModel } from '../provision/obtain-model.js';
import { inspectRedis } from '../services/redis.js';
import type { ServiceRecord } from '../services/service.js';
import { isSupportedWeaviate, probeWeaviate, WEAVIATE_VERSION } from '../services/weaviate.js';
import { type Check, ok, problem, warning } from './check.js';

const START = 'npm start    (or npx sluice up)';

/** Redis answers, is new enough, and neither evicts keys nor forgets them at a restart. */
export async function checkRedis(url: string | undefined, given: boolean): Promise<Check> {
  if (url === undefined) return ok('redis', 'not running; it is found or installed at the start');
  const shown = withoutPassword(url);
  try {
    const { version, maxmemoryPolicy, appendOnly } = await inspectRedis(url);
    if (maxmemoryPolicy !== undefined && maxmemoryPolicy !== 'noeviction') {
      return problem(
        'redis',
        `${shown} evicts keys (${maxmemoryPolicy}): jobs get lost`,
        `redis-cli -u '${shown}' config set maxmemory-policy noeviction`,
      );
    }
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < 6 || (major === 6 && minor < 2))
      return problem('redis', `${shown} is Redis ${version}: 6.2 or newer is needed`, 'upgrade it');
    if (appendOnly === false) {
      return warning(
        'redis',
        `${shown} keeps no append-only file: a restart costs a full rescan`,
        `redis-cli -u '${shown}' config set appendonly yes`,
      );
    }
    return ok('redis', `Redis ${version} at ${shown}, noeviction`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return problem('redis', `${shown} does not answer (${reason})`, given ? 'start it, or unset REDIS_URL' : START);
  }
}

function withoutPassword(url: string): string {
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  return parsed.href;
}

/** Weaviate is ready and of a version that the store can work with. */
export async function checkWeaviate(service: Pick<ServiceRecord, 'url' | 'apiKey'> | undefined, given: boolean): Promise<Check> {
  if (service === undefined) return ok('weaviate', 'not running; it is found or installed at the start');
  const { url } = service;
  try {
    const version = await probeWeaviate(service);
    if (!isSupportedWeaviate(version))
      return problem('weaviate', `${url} is Weaviate ${version}: 1.36 or newer is needed`, `upgrade it to ${WEAVIATE_VERSION}`);
    const tested = version === WEAVIATE_VERSION ? '' : ` (tested with ${WEAVIATE_VERSION})`;
    return ok('weaviate', `Weaviate ${version} at ${url}${tested}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return problem('weaviate', `${url} is not ready (${reason})`, given ? 'start it, or unset WEAVIATE_URL' : START);
  }
}

/** The API's own view: services, model, schema, a worker that consumes. */
export async function checkApi(api: string | undefined): Promise<Check> {
  if (api === undefined) return ok('api', 'not running');
  try {
    const response = await fetch(`${api}/readyz`, { signal: AbortSignal.timeout(10_000) });
    const body = (await response.text()).slice(0, 500);
    if (response.ok)
      return body.includes('degraded')
        ? warning('api', `${api} is degraded: ${body}`, 'npx sluice status')
        : ok('api', `${api} is ready`);
    return problem('api', `${api} is not ready: ${body}`, 'see .sluice/log/api.ndjson');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return problem('api', `${api} does not answer (${reason})`, `npx sluice down && ${START}`);
  }
}

/** The model's files are the ones they should be. */
export async function checkModelFiles(spec: ModelSpec, folder: string | undefined): Promise<Check> {
  if (folder === undefined) return ok('model', `${spec.name} is not here yet; it is fetched at the start`);
  try {
    await checkModel(spec, folder);
    return ok('model', `${spec.name} in ${folder}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return problem('model', reason, `rm -r '${folder}' and start again: it is fetched again`);
  }
}
