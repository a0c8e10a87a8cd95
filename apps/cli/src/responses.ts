import type { ApiClient, components } from '@sluice/client';

export type Api = ApiClient;
export type Status = components['schemas']['Status'];
export type DocumentView = components['schemas']['Document'];
export type DeadLetter = components['schemas']['DeadLetter'];

/** Scans and documents that were asked for. */
export interface Reconciled {
  scans: { source: string; request: number }[];
  documents: { doc_id: string; id: string }[];
}
