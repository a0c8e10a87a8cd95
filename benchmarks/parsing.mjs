/** Throughput (MB/s) and peak memory of every format, each in a process of its own. */
import { benchParsers } from '../packages/parsers/dist/tools/bench.js';

export async function benchParsing() {
  return (await benchParsers()).map(({ format, about, megabytes, megabytesPerSecond, peakMb }) => ({
    format,
    about,
    MB: Number(megabytes.toFixed(1)),
    'MB/s': Number(megabytesPerSecond.toFixed(1)),
    'peak memory MB': Math.round(peakMb),
  }));
}
