import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/**
 * Cores that this process may keep busy: those of the machine, or the CPU limit of its container where that is lower (cgroup v2, then
 * v1). At least 1. Node's own availableParallelism knows of such limits only in newer versions.
 */
export function usableCores(cgroups = '/sys/fs/cgroup'): number {
  const [quota, period] = (readText(`${cgroups}/cpu.max`) ?? readOlder(cgroups)).split(/\s+/).map(Number);
  const limit = Number(quota) / Number(period);
  // "max", and -1 in v1, mean no limit.
  const cores = limit > 0 && Number.isFinite(limit) ? Math.min(Math.ceil(limit), availableParallelism()) : availableParallelism();
  return Math.max(1, cores);
}

function readOlder(cgroups: string): string {
  return `${readText(`${cgroups}/cpu/cpu.cfs_quota_us`) ?? 'max'} ${readText(`${cgroups}/cpu/cpu.cfs_period_us`) ?? '100000'}`;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // Not Linux, or the other version of cgroups.
  }
}
