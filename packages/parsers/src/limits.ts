import { type ParseInput, type ParseLimits, SluiceError } from '@sluice/core';

const MB = 1024 * 1024;

/** Throws when the caller gave up. Parsers call it inside loops over large inputs. */
export function checkAborted(input: Pick<ParseInput, 'signal'>): void {
  if (input.signal?.aborted) throw new SluiceError('parse_timeout', 'parsing was stopped', { cause: input.signal.reason });
}

/** Throws `limit_exceeded` when a parsed text has grown beyond the limit. */
export function checkTextLength(units: number, limits: ParseLimits): void {
  if (units > limits.textUnits)
    throw new SluiceError(
      'limit_exceeded',
      `the text is longer than limits.text_mb allows (${Math.round(limits.textUnits / MB)} MB); split the file or raise the limit`,
    );
}

export function depthExceeded(limits: ParseLimits): SluiceError {
  return new SluiceError('limit_exceeded', `nested deeper than limits.depth allows (${limits.depth})`);
}

/** A pause that lets timers and signals in during long synchronous work. */
export async function breathe(input: Pick<ParseInput, 'signal'>): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  checkAborted(input);
}
