import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkplace, obtainModel, startServicesAlone } from '@sluice/launcher';
import type { BenchServices } from './bench.js';

/** Services of REDIS_URL and WEAVIATE_URL where both are given, else new ones, which are stopped in the end. */
export async function withServices<T>(say: (line: string) => void, work: (services: BenchServices) => Promise<T>): Promise<T> {
  const workplace = createWorkplace(process.env, say);
  const model = await obtainModel(workplace, { cwd: process.cwd() });
  const { REDIS_URL: redis, WEAVIATE_URL: weaviate, WEAVIATE_GRPC_PORT: given = '' } = process.env;
  if (redis !== undefined && weaviate !== undefined) return work({ redis, weaviate, grpcPort: given, model });
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-services-'));
  const own = await startServicesAlone({ dataFolder, workplace });
  try {
    const { launch } = own.weaviate;
    const grpcPort = launch?.kind === 'program' ? (launch.env.GRPC_PORT ?? '') : '';
    return await work({ redis: own.redis.url, weaviate: own.weaviate.url, grpcPort, model });
  } finally {
    await own.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
