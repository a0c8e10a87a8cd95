/** Answers of the API that commands read. */

export interface DocumentCounts {
  indexed: number;
  pending: number;
  empty: number;
  failed: number;
  skipped: number;
}

export interface Status {
  state: 'idle' | 'working';
  version: string;
  processes: { role: string; pid: number; restarts: number }[];
  services: Record<string, { url: string; state: string }>;
  sources: {
    name: string;
    path: string;
    configured: boolean;
    reachable: boolean;
    deletes_suspended: boolean;
    documents: DocumentCounts;
    scanned: number;
  }[];
  queues: Record<string, Record<string, number>>;
  paused: boolean;
  dead_letters: number;
}

export interface Reconciled {
  scans: { source: string; request: number }[];
  documents: { doc_id: string; id: string }[];
}

export interface DocumentView {
  doc_id: string;
  id: string;
  source: string;
  source_path: string;
  status: 'pending' | 'indexed' | 'empty' | 'skipped' | 'failed';
  reason?: string;
  message?: string;
  serving: boolean;
  revision: string;
  chunks: number;
  content_hash: string;
  committed_at?: string;
  warnings: string[];
  metadata: Record<string, unknown>;
}

export interface DeadLetter {
  doc_id: string;
  id: string;
  source: string;
  source_path: string;
  code: string;
  message: string;
  serving: boolean;
  failed_at: string;
}
