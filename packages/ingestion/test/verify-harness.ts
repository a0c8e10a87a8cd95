import type { ReconcileRequest } from '@sluice/core';
import { type VerifyReport, verify } from '@sluice/ingestion';
import { createNodeFiles, listSource } from '@sluice/sources';
import type { Harness } from './harness.js';

/** Verifies what the harness holds. As the queue would: what a repair asks for is done at once. */
export async function verifyHarness(
  h: Harness,
  options: { repair: boolean },
): Promise<{ report: VerifyReport; asked: ReconcileRequest['force'][] }> {
  const view = h.deps.source('inbox');
  if (view === undefined) throw new Error('no source');
  const asked: ReconcileRequest['force'][] = [];
  const report = await verify(
    {
      ...h.deps,
      sources: () => [view],
      listFiles: async function* () {
        for await (const items of listSource({ files: createNodeFiles(), root: h.root, settings: {} }))
          for (const item of items) if (item.kind === 'file') yield item.path;
      },
      pending: async () => new Set(),
      async repair({ path, force }) {
        asked.push(force);
        await h.reconcile(path, 'retry', { recommit: true, rebuild: force === 'rebuild' });
      },
    },
    options,
  );
  return { report, asked };
}
