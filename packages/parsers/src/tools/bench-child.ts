import { readFile } from 'node:fs/promises';
import { argv, resourceUsage, stdout } from 'node:process';
import type { BenchmarkResult } from '../bench/benchmarks.js';
import { createParserRegistry } from '../registry.js';
import { defaultParseLimits } from '../settings.js';

/** Parses one file and writes what it took as JSON. Arguments: path, name, format, about. */
const [path = '', name = '', format = '', about = ''] = argv.slice(2);
const registry = createParserRegistry();
const bytes = new Uint8Array(await readFile(path));
const start = performance.now();
const document = await registry.parse({ bytes, name, limits: { ...defaultParseLimits, parseMs: 600_000 } });
const seconds = (performance.now() - start) / 1000;
const megabytes = bytes.length / 1024 / 1024;
const result: BenchmarkResult = {
  format,
  about,
  megabytes,
  seconds,
  megabytesPerSecond: megabytes / seconds,
  peakMb: resourceUsage().maxRSS / 1024,
  elements: document.elements.length,
};
stdout.write(JSON.stringify(result));
