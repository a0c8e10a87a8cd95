import type { Baseline } from './baseline.js';
import { compareReports, type Report } from './report.js';

/** A measure that is worse than it may be. */
export interface GateFailure {
  measure: string;
  value: number;
  /** The least value that would have passed. */
  least: number;
  /** Where that value comes from. */
  from: 'threshold' | 'baseline';
  /** Of the paired test against the baseline. */
  p?: number;
}

/** A loss that chance brings about less often than this is taken for real. */
const SIGNIFICANCE = 0.05;

/**
 * Judges a report. A measure fails below its threshold. Where there is a baseline it also fails below the lower end of the baseline's
 * 95 % interval, and where the questions that both runs asked lost more than chance explains (paired randomisation test, p < 0.05):
 * over the same questions a much smaller loss is certain than the interval of one run shows.
 *
 * @param thresholds least value by measure, as `{"ndcg@10": 0.6}`
 * @throws RangeError naming a measure that there is none of
 */
export function judge(report: Report, thresholds: Readonly<Record<string, number>>, baseline?: Baseline): GateFailure[] {
  const paired = baseline === undefined ? {} : compareReports(baseline, report, Object.keys(thresholds));
  return Object.entries(thresholds).flatMap(([measure, threshold]) => {
    const value = report.totals[measure]?.mean;
    if (value === undefined) throw new RangeError(`there is no measure ${measure}`);
    const failures: GateFailure[] = [];
    if (value < threshold) failures.push({ measure, value, least: threshold, from: 'threshold' });
    const before = baseline?.totals[measure];
    if (before === undefined) return failures;
    const { difference, p } = paired[measure] ?? { difference: 0, p: 1 };
    if (difference < 0 && p < SIGNIFICANCE) failures.push({ measure, value, least: before.mean, from: 'baseline', p });
    else if (value < before.low) failures.push({ measure, value, least: before.low, from: 'baseline' });
    return failures;
  });
}
