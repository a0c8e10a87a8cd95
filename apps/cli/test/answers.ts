import { join } from 'node:path';

const counts = { indexed: 1, pending: 0, empty: 0, failed: 0, skipped: 0 };
/** What `GET /ops/api/status` answers, of one source below a folder. */
export const status = (folder: string, more: Record<string, unknown> = {}, source: Record<string, unknown> = {}) => ({
  state: 'idle',
  version: '0.1.0',
  processes: [{ role: 'api', pid: 1, restarts: 0 }],
  services: { redis: { url: 'redis://x', state: 'up' } },
  sources: [
    {
      name: 'inbox',
      path: join(folder, 'inbox'),
      configured: true,
      reachable: true,
      deletes_suspended: false,
      documents: counts,
      scanned: 7,
      ...source,
    },
  ],
  queues: { reconcile: { waiting: 0 } },
  paused: false,
  dead_letters: 0,
  ...more,
});
/** What `GET /v1/documents/...` answers. */
export const document = (docId: string, more: Record<string, unknown> = {}) => ({
  doc_id: docId,
  id: 'u',
  source: 'inbox',
  source_path: docId.slice(6),
  status: 'indexed',
  serving: true,
  revision: 'r',
  chunks: 2,
  content_hash: 'h',
  warnings: [],
  metadata: {},
  ...more,
});
