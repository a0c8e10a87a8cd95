import type { BenchContext, Row } from '../bench.js';
import { round } from '../statistics.js';

/** The measurement that the parsers' own tool does; it is no export of the package, which would publish it. */
interface ParserTool {
  benchParsers(
    only?: string,
  ): Promise<{ format: string; about: string; megabytes: number; megabytesPerSecond: number; peakMb: number }[]>;
}

const TOOL = new URL('../../../packages/parsers/dist/tools/bench.js', import.meta.url).href;

/** Throughput and peak memory of every format, each in a process of its own. */
export async function benchParsing({ sizes }: BenchContext): Promise<Row[]> {
  const { benchParsers } = (await import(TOOL)) as ParserTool;
  return (await benchParsers(sizes.parsed)).map(({ format, about, megabytes, megabytesPerSecond, peakMb }) => ({
    what: `parsing, ${format}`,
    about,
    MB: round(megabytes, 1),
    'MB/s': round(megabytesPerSecond, 1),
    'peak memory MB': round(peakMb),
  }));
}
