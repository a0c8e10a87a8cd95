import { SluiceError } from '@sluice/core';
import type { z } from 'zod';

/** The JSON lines of a file, each checked. Empty lines are passed over. Error `invalid_request` naming file and line. */
export function readJsonLines<T>(text: string, file: string, schema: z.ZodType<T>): T[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = `${file}:${index + 1}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw invalidDataset(place, 'is not JSON');
    }
    const checked = schema.safeParse(value);
    if (checked.success) return [checked.data];
    const [issue] = checked.error.issues;
    throw invalidDataset(place, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not as expected'}`);
  });
}

export function invalidDataset(place: string, problem: string): SluiceError {
  return new SluiceError('invalid_request', `${place} ${problem}`);
}
