import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { createMetrics, instanceMetrics } from '@sluice/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createWorld, type World } from './world.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().regex(/^\d+[smh]$/),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});
const boardSchema = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      title: z.string(),
      datasource: z.object({ uid: z.string() }).optional(),
      targets: z.array(z.object({ expr: z.string(), datasource: z.object({ uid: z.string() }) })).default([]),
    }),
  ),
});

/** Of Prometheus itself: whether the target answered. */
const OWN = { up: ['job', 'instance'] };

let world: World;
let folder: string;
/** Label names by the names that queries use, of what /metrics really answers. */
let exported: Map<string, Set<string>>;
/** Names as declared, with their types. */
let declared: Map<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-monitoring-'));
  const metrics = createMetrics({ role: 'api', folder });
  world = await createWorld({ metrics, instanceMetrics: () => instanceMetrics(folder, metrics) });
  // A sample of each metric that has none until something happens.
  metrics.reconciles.inc({ outcome: 'indexed' });
  metrics.stageSeconds.observe({ stage: 'embed' }, 1);
  metrics.changeToSearchable.observe(1);
  metrics.embeddingRequests.inc({ outcome: 'ok' });
  metrics.llmTokens.inc({ kind: 'prompt' }, 1);
  metrics.drift.set({ kind: 'orphan_chunk' }, 0);
  await world.put({ docId: 'inbox/a.md', text: 'words' });
  await world.put({ docId: 'inbox/b.md', record: { status: 'failed', reason: 'corrupt' } });
  const { body } = await world.app.inject({ method: 'GET', url: '/metrics' });
  declared = new Map([...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  exported = new Map(Object.entries(OWN).map(([name, labels]) => [name, new Set(labels)]));
  for (const [, name = '', labels = ''] of body.matchAll(/^(sluice_\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = exported.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    exported.set(name, known);
  }
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

interface Query {
  selectors: { metric: string; labels: string[] }[];
  grouping: string[];
}

/** What a PromQL expression asks for. Throws where it is none. */
function analyse(expression: string): Query {
  // Grafana puts the interval in.
  const text = expression.replaceAll('$__rate_interval', '5m');
  const query: Query = { selectors: [], grouping: [] };
  parser.parse(text).iterate({
    enter(node) {
      const { name, from, to } = node;
      if (node.type.isError) throw new Error(`not PromQL at ${from}: ${text}`);
      const content = text.slice(from, to);
      if (name === 'VectorSelector') query.selectors.push({ metric: /^\w+/.exec(content)?.[0] ?? '', labels: [] });
      if (name !== 'LabelName') return;
      const matcher = node.node.parent?.name.includes('Matcher') ?? false;
      if (matcher) query.selectors.at(-1)?.labels.push(content);
      else query.grouping.push(content);
    },
  });
  return query;
}

/** What is wrong with an expression, against what is exported. */
function faultsOf(expression: string): string[] {
  const { selectors, grouping } = analyse(expression);
  const faults = selectors.length === 0 ? [`asks for nothing: ${expression}`] : [];
  const offered = new Set<string>();
  for (const { metric, labels } of selectors) {
    const known = exported.get(metric);
    if (known === undefined) faults.push(`${metric} is not exported`);
    for (const label of labels) if (known?.has(label) === false) faults.push(`${metric} has no label ${label}`);
    for (const label of known ?? []) offered.add(label);
  }
  for (const label of grouping) if (!offered.has(label)) faults.push(`nothing in it has the label ${label}: ${expression}`);
  return faults;
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('what is asked for', () => {
  it('is found out when it does not exist', () => {
    expect(faultsOf('sluice_documents{status="failed"}')).toEqual([]);
    expect(faultsOf('sluice_stage_seconds_bucket')).toEqual([]);
    expect(faultsOf('sluice_nothing')).not.toEqual([]);
    expect(faultsOf('sluice_documents{state="failed"}')).not.toEqual([]);
    expect(faultsOf('sum by (state) (sluice_documents)')).not.toEqual([]);
    expect(faultsOf('1 + 1')).not.toEqual([]);
    expect(() => analyse('sum by (status (sluice_documents)')).toThrow('not PromQL');
  });
});

describe('alert rules', () => {
  it('ask for metrics and labels that are exported, and name a section of the troubleshooting page', async () => {
    const { groups } = rulesSchema.parse(parse(await read('infra/prometheus/alerts.yml')));
    const rules = groups.flatMap((group) => group.rules);
    const anchors = anchorsOf(await read('docs/troubleshooting.md'));
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, annotations } of rules) {
      expect(faultsOf(expr), alert).toEqual([]);
      const [page, anchor = ''] = annotations.runbook.split('#');
      expect(page).toBe('docs/troubleshooting.md');
      expect(anchors, alert).toContain(anchor);
    }
    const asked = new Set(rules.flatMap(({ expr }) => analyse(expr).selectors.map(({ metric }) => metric)));
    for (const metric of [
      'sluice_drift',
      'sluice_dead_letters',
      'sluice_worker_consuming',
      'sluice_queue_jobs',
      'sluice_service_up',
      'sluice_source_deletes_suspended',
    ]) {
      expect(asked).toContain(metric);
    }
  });
});

describe('the board', () => {
  it('asks for metrics and labels that are exported, of the data source that is provisioned', async () => {
    const board = boardSchema.parse(JSON.parse(await read('infra/grafana/boards/sluice.json')));
    const provisioned = z
      .object({ datasources: z.array(z.object({ uid: z.string(), url: z.string() })).length(1) })
      .parse(parse(await read('infra/grafana/provisioning/datasources/prometheus.yml'))).datasources[0];
    const targets = board.panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));
    expect(targets.length).toBeGreaterThan(10);
    for (const { title, expr, datasource } of targets) {
      expect(faultsOf(expr), title).toEqual([]);
      expect(datasource.uid, title).toBe(provisioned?.uid);
    }
    expect(provisioned?.url).toBe('http://prometheus:9090');
  });

  it('shows every metric that is exported', async () => {
    const shown = await read('infra/grafana/boards/sluice.json');
    for (const name of declared.keys()) expect(shown).toContain(name);
  });
});

describe('the metrics page', () => {
  it('lists the metrics that are exported, and no others', async () => {
    const page = await read('docs/metrics.md');
    const listed = [...page.matchAll(/^\| `(sluice_\w+)(?:\{([^}]*)\})?` \|/gm)].map(([, name = '', labels = '']) => ({
      name,
      labels: labels.split(',').filter((label) => label !== ''),
    }));
    expect(listed.map(({ name }) => name).sort()).toEqual([...declared.keys()].sort());
    for (const { name, labels } of listed) {
      const sample = declared.get(name) === 'histogram' ? `${name}_count` : name;
      expect([...(exported.get(sample) ?? [])].sort(), name).toEqual(labels.sort());
    }
  });
});
