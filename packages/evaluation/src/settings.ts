import { z } from 'zod';
import { CUT_OFFS, MEASURES } from './metrics.js';

const NAMES = new Set(MEASURES.flatMap((measure) => CUT_OFFS.map((k) => `${measure}@${k}`)));
const EXPECTED = `no measure of this name; there are ${MEASURES.join(', ')} @ ${CUT_OFFS.join(', ')}`;

/** Section `eval` of sluice.yaml. */
export const evalSchema = z.strictObject({
  /** Least value of each measure, as `ndcg@10: 0.6`. */
  gate: z
    .record(z.string(), z.number().min(0).max(1))
    .superRefine((gate, context) => {
      for (const name of Object.keys(gate)) {
        if (!NAMES.has(name)) context.addIssue({ code: 'custom', path: [name], message: EXPECTED });
      }
    })
    .default({}),
  /** A report.json to compare with; relative to the configuration file. */
  baseline: z.string().min(1).optional(),
});
