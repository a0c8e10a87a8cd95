export { type AuditDeps, type AuditLoop, type AuditReport, audit, createAuditLoop } from './audit.js';
export { withSharedRequests } from './batched-reads.js';
export { type IngestionDeps, type SourceView, STEPS, type Step } from './deps.js';
export { discardDocument } from './discard.js';
export { readOwnMetadata } from './document-metadata.js';
export {
  createPolicy,
  type DocumentPolicy,
  type Policy,
  type PolicyOptions,
  type PolicyRule,
  type PolicyVersions,
  type SourcePolicy,
} from './policy.js';
export { createReconciler, type ReconcileOptions, type ReconcileOutcome, type Reconciler } from './reconcile.js';
export { removeSource } from './remove-source.js';
export { defaultIngestionSettings, type IngestionSettings, ingestionSettingsSchema } from './settings.js';
export { createSweeper, type Sweeper, type SweepResult } from './sweep.js';
export { type DriftKind, type VerifyDeps, type VerifyReport, verify } from './verify.js';
