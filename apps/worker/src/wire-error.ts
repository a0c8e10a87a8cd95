import { type ErrorCode, SluiceError, toSluiceError } from '@sluice/core';
import type { WireError } from './document-messages.js';

/** An error as it can be sent: what it was caused by stays behind. */
export function toWire(thrown: unknown, code: ErrorCode, docId?: string): WireError {
  const { code: found, kind, message, details } = toSluiceError(thrown, code, docId);
  return { code: found, kind, message, ...(details === undefined ? {} : { details }) };
}

export function fromWire(error: WireError, docId?: string): SluiceError {
  return new SluiceError(error.code, error.message, {
    kind: error.kind,
    ...(docId === undefined ? {} : { docId }),
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}
