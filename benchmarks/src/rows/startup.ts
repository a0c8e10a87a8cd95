import { readFile } from 'node:fs/promises';
import type { BenchContext, Row } from '../bench.js';
import { withInstance } from '../instance.js';
import { median, round } from '../statistics.js';

const COMMANDS = [['--help'], ['status'], ['search', 'document'], ['documents']];
const REPEATS = 5;
/** Linux's unit of processor time in /proc, whatever the kernel's own. */
const TICK_MS = 10;

/** Processor time of all children that have ended, ms; undefined where the system does not tell (only Linux has /proc). */
async function childrenMs(): Promise<number | undefined> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined ? undefined : (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** Processor time of commands on a running instance, of which most is loading. */
export async function benchStartup({ services }: BenchContext): Promise<Row[]> {
  return withInstance(services, async (instance) => {
    const rows: Row[] = [];
    for (const command of COMMANDS) {
      const times: number[] = [];
      for (let n = 0; n < REPEATS; n++) {
        const before = await childrenMs();
        await instance.cli(...command);
        times.push(((await childrenMs()) ?? Number.NaN) - (before ?? Number.NaN));
      }
      rows.push({ what: `sluice ${command.join(' ')}`, 'CPU s': round(median(times) / 1000, 2) });
    }
    return rows;
  });
}
