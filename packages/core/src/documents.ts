import type { ReasonCode } from './errors.js';

/** Why a path is to be reconciled. */
export type Cause = 'add' | 'change' | 'unlink' | 'rename' | 'scan' | 'retry' | 'config';

/** Status of the newest state on disk; `pending` is computed from the queue and never stored. */
export type DocumentStatus = 'pending' | 'indexed' | 'empty' | 'skipped' | 'failed';

/** What a commit may say. `deleted` is a tombstone. */
export type StoredStatus = Exclude<DocumentStatus, 'pending'> | 'deleted';

export type SecurityLevel = 1 | 2 | 3 | 4 | 5;

export type FieldType = 'text' | 'text[]' | 'int' | 'number' | 'date' | 'boolean';

/** A value of a declared field; dates are ISO 8601 instants in UTC. */
export type FieldValue = string | number | boolean | string[];

/** Metadata of a document after precedence, coercion and narrowing: what every chunk carries and filters see. */
export interface DocumentMetadata {
  doc_title?: string;
  doc_type: string;
  category?: string;
  author?: string;
  tags: string[];
  version?: string;
  /** ISO 8601 instant in UTC; absent when nobody says it. */
  created_at?: string;
  /** `created_at` in whole Unix seconds. */
  created_ts?: number;
  security_level: SecurityLevel;
  /** Absent: clearance alone decides. `[]`: nobody but operators of clearance 5. */
  allowed_groups?: string[];
  lang?: string;
  /** The declared fields that have a value. */
  fields: Record<string, FieldValue>;
}

/** Who asks: what the access filter is made from. Never widened by a request. */
export interface Caller {
  /** `metrics` reads GET /metrics and nothing else. */
  role: 'reader' | 'operator' | 'metrics';
  clearance: SecurityLevel;
  groups: readonly string[];
  /** The only sources it may know of; absent: all. */
  sources?: readonly string[];
  /** Name of the key, or `anonymous`. For logs. */
  name: string;
  /** Id of the key; absent for callers without one. */
  keyId?: string;
}

export interface DocumentFault {
  reason: ReasonCode;
  message: string;
}
