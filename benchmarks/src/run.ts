import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { type Bench, type BenchSizes, FULL, type Row, SHORT, TINY } from './bench.js';
import { createRawLimit } from './raw-limit.js';
import { environment, table } from './report.js';
import { benchChunking } from './rows/chunking.js';
import { benchEdit } from './rows/edit.js';
import { benchGrowth } from './rows/growth.js';
import { benchIngest } from './rows/ingest.js';
import { benchLangChain } from './rows/langchain.js';
import { benchLatency } from './rows/latency.js';
import { benchParsing } from './rows/parsing.js';
import { benchRaw } from './rows/raw.js';
import { benchRescan } from './rows/rescan.js';
import { benchSearch } from './rows/search.js';
import { benchStartup } from './rows/startup.js';
import { benchWorkers } from './rows/workers.js';
import { withServices } from './services.js';

const BENCHES: Record<string, Bench> = {
  raw: benchRaw,
  ingest: benchIngest,
  langchain: benchLangChain,
  workers: benchWorkers,
  latency: benchLatency,
  rescan: benchRescan,
  edit: benchEdit,
  growth: benchGrowth,
  startup: benchStartup,
  search: benchSearch,
  chunking: benchChunking,
  parsing: benchParsing,
};

const USAGE = `usage: npm run bench -- [NAME...] [--short | --tiny] [--documents N] [--json FILE]
benches: ${Object.keys(BENCHES).join(', ')} (default: all)
--json names the file of the results; default sluice-bench.json in the folder for temporary files\n`;

const say = (line: string) => void stderr.write(`${line}\n`);

interface Options {
  names: string[];
  sizes: BenchSizes;
  json: string;
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
      documents: { type: 'string' },
      json: { type: 'string', default: join(tmpdir(), 'sluice-bench.json') },
    },
  });
  const unknown = positionals.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) throw new Error(`no bench ${unknown.join(', ')}`);
  const sizes = { ...(values.tiny ? TINY : values.short ? SHORT : FULL) };
  if (values.documents !== undefined) {
    sizes.documents = Number(values.documents);
    if (!(sizes.documents >= 1)) throw new Error('--documents takes a number of at least 1');
  }
  return { names: positionals.length > 0 ? positionals : Object.keys(BENCHES), sizes, json: values.json };
}

async function main({ names, sizes, json }: Options): Promise<void> {
  const start = environment();
  const benches: Record<string, Row[]> = {};
  await withServices(say, async (services) => {
    const raw = await createRawLimit(services.model);
    for (const name of names) {
      say(`${name} ...`);
      const rows = (await BENCHES[name]?.({ services, sizes, raw, say })) ?? [];
      benches[name] = rows;
      stdout.write(`${table(rows)}\n`);
      await writeFile(
        json,
        `${JSON.stringify({ environment: start, loadAtEnd: environment().load, sizes, benches }, null, 2)}\n`,
      );
    }
  });
  const { cpu, cores, node, commit, load } = start;
  stdout.write(`${cpu}, ${cores} cores, Node ${node}, commit ${commit}\n`);
  stdout.write(`load average ${load.join(' ')} at the start, ${environment().load.join(' ')} at the end; results: ${json}\n`);
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  say(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 2;
}
if (options !== undefined) await main(options);
