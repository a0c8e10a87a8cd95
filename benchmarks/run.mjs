/** `npm run bench [-- NAME...]`: measures on services of its own or on REDIS_URL and WEAVIATE_URL, prints ratios. Build first. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkplace, obtainModel, startServicesAlone } from '@sluice/launcher';
import { benchChunking } from './chunking.mjs';
import { benchIngest } from './ingest.mjs';
import { benchParsing } from './parsing.mjs';
import { benchSearch } from './search.mjs';

const BENCHES = { ingest: benchIngest, search: benchSearch, chunking: benchChunking, parsing: benchParsing };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-services-'));
const workplace = createWorkplace(process.env, (line) => console.log(line));
const model = await obtainModel(workplace, { cwd: process.cwd() });
const own = await startServicesAlone({ dataFolder: folder, workplace });
try {
  const services = { redisUrl: own.redis.url, weaviateUrl: own.weaviate.url, modelFolder: model };
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.table(await bench(services));
  }
} finally {
  await own.stop();
  await rm(folder, { recursive: true, force: true });
}
