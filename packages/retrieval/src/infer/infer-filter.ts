import { inferDates } from './infer-dates.js';
import { inferValues } from './infer-values.js';
import type { Values } from './values.js';

/** A condition of a filter as JSON: see docs/filters.md. */
export type Conditions = Record<string, unknown>;

/** Filters that a question implies, the narrowest first: all conditions, dates alone, values alone. The last is undefined: none. */
export function inferFilters(
  question: string,
  { known, ...time }: { now: number; timezone: string; known: Values },
): (Conditions | undefined)[] {
  const dates = inferDates(question, time);
  const values = inferValues(question, known);
  const hasValues = Object.keys(values).length > 0;
  const steps: (Conditions | undefined)[] = [];
  if (dates !== undefined && hasValues) steps.push({ created_at: dates, ...values });
  if (dates !== undefined) steps.push({ created_at: dates });
  if (hasValues) steps.push(values);
  return [...steps, undefined];
}
