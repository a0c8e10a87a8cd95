import { isErrorCode, SluiceError } from '@sluice/core';

/** A problem as the SluiceError that it was made from. */
export function errorOf(status: number, text: string): SluiceError {
  try {
    const problem = JSON.parse(text) as Record<string, unknown>;
    const { code, detail } = problem;
    if (typeof code === 'string' && typeof detail === 'string' && isErrorCode(code)) {
      return new SluiceError(code, detail, { details: { ...problem, status } });
    }
  } catch {
    // No JSON, so it is not Sluice that answers: a proxy, or another server on that port.
  }
  return otherServer(status);
}

export function otherServer(status: number): SluiceError {
  return new SluiceError('not_ready', `What answers there is not Sluice: status ${status}.`);
}
