import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testServices } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

let sluice: Sluice;

const TOPICS = ['boiler', 'bicycle', 'violin', 'glacier', 'compost', 'lighthouse'];

beforeAll(async () => {
  sluice = await createSluice();
  const set = join(sluice.base, 'set');
  await mkdir(join(set, 'qrels'), { recursive: true });
  const lines = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const sentence = (topic: string) => `The ${topic} is looked after in spring. Its keeper writes down what was done. `;
  await writeFile(
    join(set, 'corpus.jsonl'),
    lines(TOPICS.map((topic) => ({ _id: topic, title: topic, text: sentence(topic).repeat(4) }))),
  );
  await writeFile(
    join(set, 'queries.jsonl'),
    lines(TOPICS.map((topic) => ({ _id: `q-${topic}`, text: `care of the ${topic}` }))),
  );
  const judgements = TOPICS.map((topic) => `q-${topic}\t${topic}\t1\n`);
  await writeFile(join(set, 'qrels', 'test.tsv'), `query-id\tcorpus-id\tscore\n${judgements.join('')}`);
  await writeFile(
    join(sluice.base, 'grid.yaml'),
    'chunking:\n  - { strategy: recursive, max_tokens: [40, 200] }\nsearch:\n  - {}\n  - { mode: keyword }\n',
  );
});
afterAll(() => sluice.close());

async function collections(): Promise<string[]> {
  const { classes } = (await (await fetch(`${testServices().weaviate}/v1/schema`)).json()) as { classes: { class: string }[] };
  return classes.map((one) => one.class).sort();
}

it('measures a grid over documents that a data set brings along, leaves nothing behind, and goes on where it was', async () => {
  const before = await collections();
  const compare = () => sluice.cli('eval', 'set', '--compare', 'grid.yaml', '--out', 'out', '--json');
  const first = await compare();
  expect(first, first.stderr).toMatchObject({ code: 0 });
  const comparison = JSON.parse(first.stdout) as { points: { ingest: string; search: string; chunks: number; totals: object }[] };
  expect(comparison.points.map(({ ingest, search }) => `${ingest}; ${search}`)).toEqual([
    'recursive, max_tokens 40; defaults',
    'recursive, max_tokens 40; mode keyword',
    'recursive, max_tokens 200; defaults',
    'recursive, max_tokens 200; mode keyword',
  ]);
  const [small, , large] = comparison.points;
  expect(large?.chunks).toBe(TOPICS.length);
  expect(small?.chunks).toBeGreaterThan(TOPICS.length);
  expect(large?.totals).toMatchObject({ 'hit@5': { mean: 1, n: TOPICS.length } });
  expect(await collections()).toEqual(before);

  const out = join(sluice.base, 'out');
  expect((await readFile(join(out, 'comparison.html'), 'utf8')).match(/<svg/g)).toHaveLength(2);
  expect(await readFile(join(out, 'comparison.md'), 'utf8')).toContain('| recursive, max_tokens 200 | ');
  expect(await readdir(join(out, 'scratch'))).toEqual([]);

  // Points that were measured are not measured again, whatever the order of their settings.
  await writeFile(
    join(sluice.base, 'grid.yaml'),
    'chunking:\n  - { max_tokens: [200, 40], strategy: recursive }\nsearch:\n  - {}\n',
  );
  const second = await compare();
  expect(second, second.stderr).toMatchObject({ code: 0 });
  expect(second.stderr).not.toContain('ingesting');
}, 300_000);
