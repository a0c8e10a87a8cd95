import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const NAMES = ['embeddings_computed', 'objects_written', 'files_scanned'] as const;

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice();
});
afterAll(() => sluice.close());

async function counters(): Promise<Record<(typeof NAMES)[number], number>> {
  const values = await Promise.all(NAMES.map((name) => sluice.metric(`sluice_${name}_total`)));
  return { embeddings_computed: values[0] ?? 0, objects_written: values[1] ?? 0, files_scanned: values[2] ?? 0 };
}

async function spent(work: () => Promise<void>): Promise<Record<(typeof NAMES)[number], number>> {
  const before = await counters();
  await work();
  await sluice.settle();
  // Processes write their counters moments after their work: wait until they rest.
  let last = await counters();
  await expect
    .poll(
      async () => {
        const now = await counters();
        const rests = JSON.stringify(now) === JSON.stringify(last);
        last = now;
        return rests;
      },
      { interval: 600, timeout: 20_000 },
    )
    .toBe(true);
  return {
    embeddings_computed: last.embeddings_computed - before.embeddings_computed,
    objects_written: last.objects_written - before.objects_written,
    files_scanned: last.files_scanned - before.files_scanned,
  };
}

const paragraph = (n: number, word: string) =>
  `Paragraph ${n} speaks of ${word}. ${`The miller of house ${n} counts sacks of barley and oats, row ${n * 7}, until the ${word} bell rings for the ${n}th time. `.repeat(5)}`;

it('spends nothing on 1,000 unchanged files, and little on an edit', async () => {
  for (let n = 0; n < 1000; n += 1) await sluice.write(`many/${n % 20}/f${n}.txt`, `File number ${n} is about topic ${n * 31}.`);
  await sluice.up();
  await sluice.settle();
  const scan = await spent(async () => {});
  expect(scan.embeddings_computed).toBe(0);
  expect(scan.objects_written).toBe(0);
  // The positive control: the scan did look at all of them.
  expect(scan.files_scanned).toBeGreaterThanOrEqual(1000);

  const edit = await spent(() => sluice.write('many/3/f3.txt', 'File number 3 has changed its mind.'));
  expect(edit.embeddings_computed).toBe(1);

  const rename = await spent(() => sluice.move('many', 'more'));
  expect(rename.embeddings_computed).toBe(0);
  expect(await sluice.find('changed mind')).toEqual(['inbox/more/3/f3.txt']);
}, 600_000);

it('computes at most 2 and writes at most 5 for an edit in a document of 1,000 chunks', async () => {
  const paragraphs = Array.from({ length: 1000 }, (_, n) => paragraph(n, 'noon'));
  await sluice.write('long.md', paragraphs.join('\n\n'));
  await sluice.settle();
  const document = await sluice.json<{ documents: { doc_id: string; chunks: number }[] }>('documents');
  expect(document.documents.find((one) => one.doc_id === 'inbox/long.md')?.chunks).toBeGreaterThanOrEqual(900);
  for (const at of [500, 17, 998]) {
    paragraphs[at] = `${paragraph(at, 'dusk')} And a line more.`;
    const edit = await spent(() => sluice.write('long.md', paragraphs.join('\n\n')));
    expect(edit.embeddings_computed, `edit at ${at}`).toBeGreaterThanOrEqual(1);
    expect(edit.embeddings_computed, `edit at ${at}`).toBeLessThanOrEqual(2);
    expect(edit.objects_written, `edit at ${at}`).toBeLessThanOrEqual(5);
  }
}, 600_000);
