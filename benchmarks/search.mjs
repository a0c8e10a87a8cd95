/**
 * A search through the HTTP API against what it can't do without: the query's embedding and Weaviate's own hybrid search, measured in turns.
 * Targets: 1.3 times as long at rest, 2.5 times while documents are replaced.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@sluice/config';
import { docUuid } from '@sluice/core';
import { createEmbedder } from '@sluice/models';
import { createStore } from '@sluice/store';
import { seedStore } from '@sluice/testkit';
import { seeded, zipfWords } from './texts.mjs';

const CHUNKS = 10;
const LIMIT = 10;
/** Words of a chunk: about 690 characters, as in the benchmark of ingest. */
const WORDS = 110;
/** Documents replaced a second. */
const REPLACES = 2;

export async function benchSearch(services, { documents = 1000, queries = 200 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-search-'));
  const namespace = `Bench${process.pid}s${Date.now().toString(36)}`;
  const port = await freePort();
  const env = {
    ...process.env,
    REDIS_URL: services.redisUrl,
    WEAVIATE_URL: services.weaviateUrl,
    SLUICE_MODEL: services.modelFolder,
    SLUICE_DATA: folder,
    SLUICE_NAMESPACE: namespace,
    SLUICE_PORT: String(port),
    SLUICE_LOG_LEVEL: 'warn',
  };
  const config = loadConfig({ flags: {}, env, cwd: folder });
  const embedder = await createEmbedder({ folder: services.modelFolder, threads: 1 });
  const store = createStore({
    url: services.weaviateUrl,
    namespace,
    collection: config.embedding.model,
    dimensions: embedder.dimensions,
    fields: {},
  });
  await store.ensureSchema();
  const random = seeded(11);
  const words = zipfWords(random, 20_000);
  const sentence = () => words(8);
  const seed = { documents, chunksPerDocument: CHUNKS, dimensions: embedder.dimensions, textOf: () => words(WORDS) };
  await seedStore(store, seed);
  const api = spawn(process.execPath, [new URL('../apps/api/dist/main.js', import.meta.url).pathname], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/readyz`)).ok);
    const chunks = (await weaviate(services, '/v1/schema')).classes
      .map((one) => one.class)
      .find((name) => name.startsWith(`${namespace}Chunk`));
    const raw = async (query) => {
      const [vector] = await embedder.embed([query], undefined, { urgent: true });
      const text = JSON.stringify(query);
      const answer = await weaviate(services, '/v1/graphql', {
        query: `{Get{${chunks}(limit:${LIMIT},hybrid:{query:${text},vector:[${[...vector]}],alpha:0.5,properties:["search_text"]}){doc_id text _additional{id score}}}}`,
      });
      if (answer.data?.Get[chunks]?.length !== LIMIT) throw new Error(JSON.stringify(answer).slice(0, 300));
    };
    const whole = async (query) => {
      const response = await fetch(`${url}/v1/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, limit: LIMIT }),
      });
      const body = await response.json();
      if (body.results?.length !== LIMIT) throw new Error(JSON.stringify(body).slice(0, 300));
    };
    const rows = [await compare('search at rest', raw, whole, sentence, queries)];
    let replaced = 0;
    let isOver = false;
    const doomed = [];
    const replacing = (async () => {
      for (; !isOver; replaced++) {
        const began = performance.now();
        const [first, revision] = [replaced % documents, 1 + Math.floor(replaced / documents)];
        const old = await store.listObjects(docUuid(`seeded/seed/${first}.txt`));
        await seedStore(store, { ...seed, documents: 1, first, revision });
        doomed.push({ due: performance.now() + config.store.readerGraceMs, old });
        while (doomed[0]?.due < performance.now()) await store.deleteObjects(doomed.shift().old);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / REPLACES - (performance.now() - began))));
      }
    })();
    rows.push(await compare('search while documents are replaced', raw, whole, sentence, queries));
    isOver = true;
    await replacing;
    console.log(`${replaced} documents of ${CHUNKS} chunks were replaced meanwhile`);
    return rows;
  } finally {
    const gone = once(api, 'exit');
    api.kill('SIGTERM');
    await gone;
    await embedder.close();
    await store.close();
    for (const { class: name } of (await weaviate(services, '/v1/schema')).classes) {
      if (name.startsWith(namespace)) await fetch(`${services.weaviateUrl}/v1/schema/${name}`, { method: 'DELETE' });
    }
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(what, raw, whole, sentence, queries) {
  const times = { raw: [], whole: [] };
  for (let n = -10; n < queries; n++) {
    const query = sentence();
    const pair = [
      ['raw', raw],
      ['whole', whole],
    ];
    if (n % 2 === 0) pair.reverse();
    for (const [name, run] of pair) {
      const began = performance.now();
      await run(query);
      if (n >= 0) times[name].push(performance.now() - began);
    }
  }
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const [alone, ours] = [median(times.raw), median(times.whole)];
  return {
    what,
    queries,
    'embed + hybrid, p50 ms': alone.toFixed(1),
    '/v1/search, p50 ms': ours.toFixed(1),
    ratio: (ours / alone).toFixed(2),
  };
}

async function weaviate(services, path, body) {
  const init =
    body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await fetch(`${services.weaviateUrl}${path}`, init)).json();
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function until(holds) {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100));
}
