// Health check of a container: exit code 0 while its process does its work. `node infra/healthy.mjs watcher|worker|api`
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** A watcher and a worker write their metrics every 5 s, whatever they do; one whose event loop hangs does not. */
const SILENT_MS = 60_000;

const [role] = process.argv.slice(2);
const reason = role === 'api' ? await askApi() : await lookAtSnapshots(role);
if (reason !== undefined) {
  console.error(reason);
  process.exit(1);
}

/** 200 also while it is degraded: it answers queries. */
async function askApi() {
  try {
    const response = await fetch(`http://127.0.0.1:${process.env.SLUICE_PORT || 4180}/readyz`, {
      signal: AbortSignal.timeout(8_000),
    });
    return response.ok ? undefined : `${response.status} ${(await response.text()).slice(0, 500)}`;
  } catch (error) {
    return `the API does not answer: ${error.message}`;
  }
}

/** The data folder is shared: only snapshots of this very container count. */
async function lookAtSnapshots(role) {
  const folder = join(process.env.SLUICE_DATA || '.sluice', 'metrics');
  const names = await readdir(folder).catch(() => []);
  let newest = 0;
  for (const name of names.filter((each) => each.startsWith(`${role}-`) && each.endsWith('.json'))) {
    try {
      const { host, at } = JSON.parse(await readFile(join(folder, name), 'utf8'));
      if (host === hostname()) newest = Math.max(newest, at);
    } catch {
      // It was replaced while it was read: the others are looked at.
    }
  }
  if (newest === 0) return `the ${role} has written nothing yet`;
  const silent = Date.now() - newest;
  return silent < SILENT_MS ? undefined : `the ${role} is silent for ${Math.round(silent / 1000)} s`;
}
