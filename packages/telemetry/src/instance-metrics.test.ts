import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { instanceMetrics } from './instance-metrics.js';
import { createMetrics } from './metrics.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-metrics-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Makes every snapshot that is there look as if it had been written long ago. */
async function age(): Promise<void> {
  for (const name of await readdir(folder)) {
    const snapshot = JSON.parse(await readFile(join(folder, name), 'utf8')) as { at: number };
    await writeFile(join(folder, name), JSON.stringify({ ...snapshot, at: snapshot.at - 600_000 }));
  }
}

function sampleOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

it('adds up processes of equal pid, as containers have them, and counts its own values once', async () => {
  const api = createMetrics({ role: 'api', folder });
  const worker = createMetrics({ role: 'worker', folder });
  api.objectsWritten.inc(1);
  worker.objectsWritten.inc(2);
  await Promise.all([api.flush(), worker.flush()]);
  api.objectsWritten.inc(10);
  const text = await instanceMetrics(folder, api);
  expect(sampleOf(text, 'sluice_objects_written_total')).toBe(13);
  expect(sampleOf(text, 'sluice_processes{role="api"}')).toBe(1);
  expect(sampleOf(text, 'sluice_processes{role="worker"}')).toBe(1);
  expect(sampleOf(text, 'sluice_processes{role="watcher"}')).toBe(0);
});

it('a process that ended keeps its totals, loses its gauges, and is no longer counted as one that lives', async () => {
  const ended = createMetrics({ role: 'worker', folder });
  ended.objectsWritten.inc(5);
  ended.drift.set({ kind: 'orphan_chunk' }, 3);
  await ended.flush();
  await age();
  const text = await instanceMetrics(folder, createMetrics({ role: 'api', folder }));
  expect(sampleOf(text, 'sluice_objects_written_total')).toBe(5);
  expect(sampleOf(text, 'sluice_drift{kind="orphan_chunk"}')).toBeUndefined();
  expect(sampleOf(text, 'sluice_processes{role="worker"}')).toBe(0);
});

it('what two workers find in the same store is told once', async () => {
  for (const count of [2, 3]) {
    const worker = createMetrics({ role: `worker${count}`, folder });
    worker.drift.set({ kind: 'missing_chunk' }, count);
    await worker.flush();
  }
  const text = await instanceMetrics(folder, createMetrics({ role: 'api', folder }));
  expect(sampleOf(text, 'sluice_drift{kind="missing_chunk"}')).toBe(3);
});
