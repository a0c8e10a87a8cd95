/** How a fault behaves over time: `permanent` faults are not retried, the others are, with back-off. */
export type FaultKind = 'permanent' | 'transient' | 'rate_limited';

/** Reasons a document carries (status `failed` or `skipped`), with the kind of fault each is. */
export const REASONS = {
  unsupported_type: 'permanent',
  too_large: 'permanent',
  corrupt: 'permanent',
  password_required: 'permanent',
  invalid_metadata: 'permanent',
  encoding_unknown: 'permanent',
  parse_timeout: 'permanent',
  parse_memory: 'permanent',
  limit_exceeded: 'permanent',
  unreadable: 'permanent',
  invalid_path: 'permanent',
  embed_failed: 'transient',
  store_rejected: 'permanent',
  store_unavailable: 'transient',
  llm_failed: 'transient',
  llm_not_configured: 'permanent',
  internal: 'transient',
} as const satisfies Record<string, FaultKind>;

/** Why a document is failed or skipped. */
export type ReasonCode = keyof typeof REASONS;

/** Codes of errors that concern a request, the configuration or the installation, not one document. */
export const FAULTS = {
  invalid_request: 'permanent',
  invalid_filter: 'permanent',
  invalid_configuration: 'permanent',
  not_in_a_source: 'permanent',
  unauthorized: 'permanent',
  forbidden: 'permanent',
  not_found: 'permanent',
  method_not_allowed: 'permanent',
  conflict: 'permanent',
  revision_outdated: 'permanent',
  rate_limited: 'rate_limited',
  not_ready: 'transient',
  queue_unavailable: 'transient',
  model_unavailable: 'transient',
  schema_mismatch: 'permanent',
  outdated_attempt: 'transient',
  not_stable: 'transient',
} as const satisfies Record<string, FaultKind>;

export type ErrorCode = ReasonCode | keyof typeof FAULTS;

const KINDS: Record<ErrorCode, FaultKind> = { ...REASONS, ...FAULTS };

export interface SluiceErrorOptions {
  /** The document concerned, if it is one. */
  docId?: string;
  /** Overrides the kind that the table gives this code. */
  kind?: FaultKind;
  cause?: unknown;
  /** Further facts for logs and problem+json, such as the line of a configuration file. Never document text. */
  details?: Record<string, unknown>;
}

/** The one error class. Messages say what happened, to which file, and what to do. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  readonly code: ErrorCode;
  readonly kind: FaultKind;
  readonly docId: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, options: SluiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.kind = options.kind ?? KINDS[code];
    this.docId = options.docId;
    this.details = options.details;
  }
}

export function isReason(code: string): code is ReasonCode {
  return Object.hasOwn(REASONS, code);
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(KINDS, code);
}

/** Any thrown value as a SluiceError: its own if it is one, else `internal` (or the given code) with the value as cause. */
export function toSluiceError(thrown: unknown, code: ErrorCode = 'internal', docId?: string): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SluiceError(code, message, { cause: thrown, ...(docId === undefined ? {} : { docId }) });
}
