import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext, Row } from '../bench.js';
import { STABILITY_MS, withInstance } from '../instance.js';
import { quantile, round } from '../statistics.js';
import { abstracts } from '../texts.js';

/** Idle time between two files, so that each arrives at rest. */
const PAUSE_MS = 300;

/** Small files written one by one: from the moment a file has been unchanged for long enough to its commit. */
export async function benchLatency({ services, sizes }: BenchContext): Promise<Row[]> {
  const texts = abstracts(21, sizes.repeats);
  const latencies = await withInstance(services, async (instance) => {
    const written: number[] = [];
    for (const [n, text] of texts.entries()) {
      const before = await instance.countObjects('Commit');
      await instance.write(`small-${n}.txt`, text);
      written.push(Date.now());
      while ((await instance.countObjects('Commit')) <= before) await sleep(50);
      await sleep(PAUSE_MS);
    }
    await instance.settle();
    const committed = new Map(
      (await instance.documents('small-')).map((one) => [one.doc_id, Date.parse(one.committed_at ?? '')]),
    );
    return written.map((at, n) => (committed.get(`inbox/small-${n}.txt`) ?? Number.NaN) - at - STABILITY_MS);
  });
  return [
    {
      what: 'small file, after stability',
      files: latencies.length,
      'p50 ms': round(quantile(latencies, 0.5)),
      'p95 ms': round(quantile(latencies, 0.95)),
    },
  ];
}
