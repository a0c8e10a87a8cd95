import { z } from 'zod';

const estimateSchema = z.object({ mean: z.number(), low: z.number(), high: z.number(), n: z.number() });

/** What later runs are compared with: a report.json, or the part of one that `baselineOf` keeps. */
const baselineSchema = z.object({
  format: z.literal(1),
  run: z.string(),
  totals: z.record(z.string(), estimateSchema),
  results: z.array(z.object({ id: z.string(), scores: z.record(z.string(), z.number()) })),
});

export type Baseline = z.infer<typeof baselineSchema>;

/** Reads a baseline; undefined where the value is none. */
export function readBaseline(value: unknown): Baseline | undefined {
  return baselineSchema.safeParse(value).data;
}

/** The part of a report that a comparison by these measures needs: small enough to be committed. Scores have four digits. */
export function baselineOf(report: Omit<Baseline, 'format'>, measures: readonly string[]): Baseline {
  const pick = <T>(from: Readonly<Record<string, T>>, change: (value: T) => T) =>
    Object.fromEntries(measures.flatMap((name) => (from[name] === undefined ? [] : [[name, change(from[name])]])));
  return {
    format: 1,
    run: report.run,
    totals: pick(report.totals, ({ mean, low, high, n }) => ({ mean: round(mean), low: round(low), high: round(high), n })),
    results: report.results.map(({ id, scores }) => ({ id, scores: pick(scores, round) })),
  };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
