import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** Gauges of a process that has not written for this long are left out: it is gone, and so is what it measured. */
const GAUGE_MAX_AGE_MS = 60_000;

interface Snapshot {
  role: string;
  pid: number;
  at: number;
  metrics: { name: string; type: string }[];
}

/**
 * The metrics of the whole instance in Prometheus' text format: the snapshots of every process that ran since the instance
 * started, added up, with the caller's own registry.
 *
 * @param folder where processes write their snapshots
 * @param own the calling process' registry, read live instead of from its snapshot
 */
export async function instanceMetrics(folder: string, own: Registry): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const lists: unknown[] = [await own.getMetricsAsJSON()];
  for (const name of names) {
    if (!name.endsWith('.json')) continue;
    const snapshot = await readSnapshot(join(folder, name));
    if (snapshot === undefined || snapshot.pid === process.pid) continue;
    const fresh = Date.now() - snapshot.at < GAUGE_MAX_AGE_MS;
    lists.push(snapshot.metrics.filter((metric) => fresh || metric.type !== 'gauge'));
  }
  return AggregatorRegistry.aggregate(lists as Parameters<typeof AggregatorRegistry.aggregate>[0]).metrics();
}

async function readSnapshot(path: string): Promise<Snapshot | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Snapshot;
  } catch {
    // A snapshot may vanish between the listing and the read when an instance starts anew.
    return undefined;
  }
}
