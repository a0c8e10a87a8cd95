import { type components, dataOf } from '@sluice/client';
import type { Command } from 'commander';
import type { Context, Run } from '../context.js';
import { EXIT } from '../exit.js';
import { seconds } from '../options.js';
import { table } from '../output.js';
import type { Api, Reconciled, Status } from '../responses.js';
import { waitFor } from '../wait.js';

interface Options {
  wait?: boolean;
  timeout?: number;
}

export function statusCommand(program: Command, run: Run): void {
  program
    .command('status')
    .description('show sources, documents, queues and processes')
    .option('--wait', 'first have all sources scanned, then wait until nothing is left to do')
    .option('--timeout <seconds>', 'give up waiting after this long (exit 4)', seconds)
    .action(
      run(async (context, options: Options) => {
        const api = await context.api();
        const scans = options.wait === true ? await scanAll(api) : [];
        const isLate = options.wait === true && !(await waitUntilIdle(context, api, scans, options.timeout));
        const status = dataOf(await api.GET('/ops/api/status', { params: { query: { fresh: 'true' } } }));
        if (isLate) context.output.note(`Still working after ${options.timeout} s: ${await openWork(api, status, scans)}.`);
        context.output.value(status);
        context.output.line(describe(status));
        // The status is worth showing without the models, as when the store is away.
        const models = options.wait === true ? undefined : (await api.GET('/ops/api/models').catch(() => undefined))?.data;
        if (models !== undefined) for (const line of describeModels(models)) context.output.line(line);
        return isLate ? EXIT.timedOut : EXIT.done;
      }),
    );
}

/** Has every source scanned. */
export async function scanAll(api: Api): Promise<Reconciled['scans']> {
  return dataOf(await api.POST('/ops/api/reconcile', { body: {} })).scans;
}

/** Waits until the scans are done and no job is left. False when the time was up. */
export async function waitUntilIdle(
  context: Context,
  api: Api,
  scans: Reconciled['scans'],
  timeoutSeconds: number | undefined,
): Promise<boolean> {
  const idle = await waitFor(context, timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000, async () => {
    const status = dataOf(await api.GET('/ops/api/status'));
    // Failed ones are kept for the queue's pages: nothing waits for them.
    const jobs = Object.values(status.queues).flatMap(({ failed: _kept, ...open }) => Object.values(open));
    context.output.progress(`${status.state}: ${jobs.reduce((sum, count) => sum + count, 0)} jobs`);
    return isCovered(status, scans) ? true : undefined;
  });
  return idle === true;
}

export function isCovered(status: Status, scans: Reconciled['scans']): boolean {
  return unscanned(status, scans).length === 0 && status.state === 'idle';
}

/** Sources whose scan is not done. One whose folder is away has no scan to wait for. */
function unscanned(status: Status, scans: Reconciled['scans']): string[] {
  const asked = new Map(scans.map(({ source, request }) => [source, request]));
  const open = status.sources.filter(({ name, reachable, scanned }) => reachable && scanned < (asked.get(name) ?? 0));
  return open.map(({ name }) => name);
}

/** Documents named after a time-out; the rest is a number. */
const MOST_NAMED = 5;

/** What was waited for in vain. */
async function openWork(api: Api, status: Status, scans: Reconciled['scans']): Promise<string> {
  const parts: string[] = [];
  const sources = unscanned(status, scans);
  if (sources.length > 0) parts.push(`not scanned yet: ${sources.join(', ')} (a file that is being written is waited for)`);
  const count = status.sources.reduce((sum, { documents }) => sum + documents.pending, 0);
  if (count > 0) {
    const query = { status: 'pending' as const, limit: MOST_NAMED };
    const { documents = [] } = (await api.GET('/v1/documents', { params: { query } })).data ?? {};
    const named = documents.map(({ doc_id }) => doc_id);
    const rest = count - named.length;
    parts.push(`pending: ${[...named, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')}`);
  }
  return parts.length === 0 ? 'the last jobs are ending' : parts.join('; ');
}

/** What is not as always: a model that is being built, and collections that nothing uses. */
function describeModels({ live, next, unused }: components['schemas']['Models']): string[] {
  return [
    ...(next === undefined
      ? []
      : [
          `model ${next.model} is being built: ${next.done} of ${next.documents} documents, ${next.failed} failed; ${live.model} answers`,
        ]),
    ...(unused.length === 0
      ? []
      : [`${unused.length} collections that no model uses any more: sluice reindex --prune removes them`]),
  ];
}

function describe(status: Status): string {
  const lines = [`Sluice ${status.version}, ${status.state}${status.paused ? ', queue paused' : ''}`];
  const rows = [['source', 'indexed', 'pending', 'empty', 'skipped', 'failed', 'folder']];
  for (const { name, path, documents, ...state } of status.sources) {
    const counts = [documents.indexed, documents.pending, documents.empty, documents.skipped, documents.failed].map(String);
    rows.push([name, ...counts, `${path}${remark(state)}`]);
  }
  lines.push(table(rows), '');
  if (status.dead_letters > 0) lines.push(`${status.dead_letters} dead letters: see "sluice dlq list"`, '');
  lines.push(
    table([
      ['process', 'pid', 'restarts'],
      ...status.processes.map(({ role, pid, restarts }) => [role, String(pid), String(restarts)]),
    ]),
    '',
  );
  for (const { host, pid, seconds } of status.standing_workers ?? [])
    lines.push(
      `Worker ${pid} on ${host} has stood still for ${seconds} s: see "Nothing is indexed any more" in docs/troubleshooting.md`,
      '',
    );
  const services = Object.entries(status.services).map(([name, { url, state }]) => [name, state, url]);
  lines.push(table(services));
  return lines.join('\n');
}

function remark({
  configured,
  reachable,
  deletes_suspended,
}: {
  configured: boolean;
  reachable: boolean;
  deletes_suspended: boolean;
}) {
  if (!configured) return ' (no longer configured: "sluice source remove" removes its documents)';
  if (!reachable) return ' (not reachable: nothing is deleted)';
  return deletes_suspended ? ' (deletes suspended)' : '';
}
