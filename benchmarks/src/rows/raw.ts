import type { BenchContext, Row } from '../bench.js';
import { round } from '../statistics.js';
import { abstracts } from '../texts.js';

/** The raw limit alone, for each engine. */
export async function benchRaw({ sizes, raw }: BenchContext): Promise<Row[]> {
  const texts = abstracts(7, sizes.rawTexts);
  const rows: Row[] = [];
  for (const engine of raw.engines) {
    rows.push({
      what: `raw limit, engine of ${engine.name}`,
      texts: texts.length,
      'texts/s': round(await raw.measure(texts, engine), 1),
    });
  }
  return rows;
}
