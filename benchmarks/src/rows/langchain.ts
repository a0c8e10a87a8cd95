import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchContext, BenchServices, Row } from '../bench.js';
import { withInstance } from '../instance.js';
import { shareOf } from '../raw-limit.js';
import { round } from '../statistics.js';
import { abstracts } from '../texts.js';
import { ingest } from './ingest.js';

const run = promisify(execFile);

/** The other side, with a package.json and a lock file of its own. */
const FOLDER = fileURLToPath(new URL('../../langchain/', import.meta.url));

/** Batch sizes that are tried beside the default of `index()`, which is 100. */
const BATCH_SIZES = [1, 4, 16];

async function install(say: (line: string) => void): Promise<void> {
  if (existsSync(join(FOLDER, 'node_modules'))) return;
  say('langchain: installing it once');
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER });
}

interface Ingested {
  chunks: number;
  seconds: number;
}

async function withLangChain(services: BenchServices, folder: string, batchSize: number | undefined): Promise<Ingested> {
  const { stdout } = await run(process.execPath, [join(FOLDER, 'index.mjs')], {
    env: {
      ...process.env,
      FOLDER: folder,
      MODEL: services.model,
      WEAVIATE_HTTP_PORT: new URL(services.weaviate).port,
      WEAVIATE_GRPC_PORT: services.grpcPort,
      COLLECTION: 'LangChainRow',
      BATCH_SIZE: batchSize === undefined ? '' : String(batchSize),
    },
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout) as Ingested;
}

/**
 * Ingest of the same one-chunk texts into the same Weaviate with the same model file: Sluice, then LangChain JS with its default
 * batch size and with others, then Sluice again. LangChain's time is that of load, split and `index()`, the model being loaded;
 * Sluice's is counted as in the row of ingest.
 */
export async function benchLangChain({ services, sizes, raw, say }: BenchContext): Promise<Row[]> {
  if (services.grpcPort === '') throw new Error('langchain needs the gRPC port of Weaviate: set WEAVIATE_GRPC_PORT');
  await install(say);
  const texts = abstracts(40, sizes.documents);
  const sample = texts.slice(0, sizes.rawTexts);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-texts-'));
  try {
    for (const [n, text] of texts.entries()) await writeFile(join(folder, `${n}.txt`), text);
    const before = await raw.measure(sample);
    const rates: { what: string; rate: number }[] = [];
    const add = (what: string, { chunks, seconds }: Ingested) => rates.push({ what, rate: chunks / seconds });
    const withSluice = async (name: string) =>
      withInstance(services, async (instance) => add(`Sluice, ${name}`, await ingest(instance, 'texts', texts)));
    await withSluice('before');
    add('LangChain JS, default', await withLangChain(services, folder, undefined));
    for (const size of BATCH_SIZES) add(`LangChain JS, batches of ${size}`, await withLangChain(services, folder, size));
    await withSluice('after');
    const limits = { before, after: await raw.measure(sample) };
    const reference = rates.find(({ what }) => what === 'LangChain JS, default')?.rate ?? Number.NaN;
    return rates.map(({ what, rate }) => ({
      what: `ingest, one chunk a document: ${what}`,
      documents: texts.length,
      'chunks/s': round(rate, 1),
      'of raw limit': shareOf(rate, limits),
      "times LangChain's default": round(rate / reference, 2),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
