import type { Report } from './report.js';

/** A measure that is worse than it may be. */
export interface GateFailure {
  measure: string;
  value: number;
  /** The least value that would have passed. */
  least: number;
  /** Where that value comes from. */
  from: 'threshold' | 'baseline';
}

/**
 * Judges a report. A measure fails below its threshold, and where there is a baseline, below the lower end of the baseline's 95 %
 * interval.
 *
 * @param thresholds least value by measure, as `{"ndcg@10": 0.6}`
 * @throws RangeError naming a measure that there is none of
 */
export function judge(report: Report, thresholds: Readonly<Record<string, number>>, baseline?: Report): GateFailure[] {
  return Object.entries(thresholds).flatMap(([measure, threshold]) => {
    const value = report.totals[measure]?.mean;
    if (value === undefined) throw new RangeError(`there is no measure ${measure}`);
    const low = baseline?.totals[measure]?.low;
    const failures: GateFailure[] = [];
    if (value < threshold) failures.push({ measure, value, least: threshold, from: 'threshold' });
    if (low !== undefined && value < low) failures.push({ measure, value, least: low, from: 'baseline' });
    return failures;
  });
}
