import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { Metrics } from './metrics.js';

/** A process that has not written for this long is gone, and so is what its gauges measured. */
const FRESH_MS = 60_000;
const ROLES = ['api', 'watcher', 'worker'];

interface Snapshot {
  role: string;
  at: number;
  metrics: { name: string; type: string }[];
}

/**
 * The metrics of the whole instance in Prometheus' text format: the snapshots of every process that ran since the instance
 * started, added up, with the caller's own registry; and `sluice_processes{role}`, the processes that wrote one lately.
 *
 * @param folder where processes write their snapshots
 * @param own the calling process' metrics, read live instead of from its snapshot
 */
export async function instanceMetrics(folder: string, own: Pick<Metrics, 'registry' | 'snapshot'>): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const lists: unknown[] = [await own.registry.getMetricsAsJSON()];
  const alive = new Map(ROLES.map((role) => [role, 0]));
  for (const name of names) {
    if (!name.endsWith('.json')) continue;
    const snapshot = await readSnapshot(join(folder, name));
    if (snapshot === undefined) continue;
    const fresh = Date.now() - snapshot.at < FRESH_MS;
    if (fresh) alive.set(snapshot.role, (alive.get(snapshot.role) ?? 0) + 1);
    if (name !== own.snapshot) lists.push(snapshot.metrics.filter((metric) => fresh || metric.type !== 'gauge'));
  }
  lists.push(await describeProcesses(alive));
  return AggregatorRegistry.aggregate(lists as Parameters<typeof AggregatorRegistry.aggregate>[0]).metrics();
}

async function describeProcesses(alive: ReadonlyMap<string, number>): Promise<unknown> {
  const registry = new Registry();
  const processes = new Gauge({
    name: 'sluice_processes',
    help: 'Processes that have written their metrics within the last minute.',
    labelNames: ['role'],
    registers: [registry],
  });
  for (const [role, count] of alive) processes.set({ role }, count);
  return registry.getMetricsAsJSON();
}

async function readSnapshot(path: string): Promise<Snapshot | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Snapshot;
  } catch {
    // A snapshot may vanish between the listing and the read when an instance starts again.
    return undefined;
  }
}
