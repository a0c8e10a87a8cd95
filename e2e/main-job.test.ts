import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePdf } from './support/make-pdf.js';
import { startReaders, versioned } from './support/readers.js';
import { createSluice, type Sluice } from './support/sluice.js';

const TELESCOPE = `# The Meridian space telescope

## Orbit

The observatory circles a point a million and a half kilometres from Earth, where it needs little fuel to keep its place and always has the Sun behind it.

## Infrared

It observes infrared light, which passes through clouds of dust and shows the oldest galaxies, whose light was stretched on its long way to us.

## Sunshield

A sunshield of five layers, each as large as a tennis court and as thin as a hair, blocks the heat of the Sun, the Earth and the Moon. Every layer is cooler than the one before it.
`;

describe('from a dropped file to an answer', () => {
  let sluice: Sluice;
  beforeAll(async () => {
    sluice = await createSluice();
    await sluice.up();
  });
  afterAll(() => sluice.close());

  it('answers from files of each kind', async () => {
    await sluice.write('plain.txt', 'The ferry to Lindholm leaves at a quarter past nine.');
    await sluice.write('notes/telescope.md', TELESCOPE);
    await sluice.write(
      'page.html',
      '<html><body><h1>Bakery</h1><p>The rye loaf costs four crowns.</p><script>let hidden = 1;</script></body></html>',
    );
    await sluice.write(
      'report.pdf',
      await makePdf(['The dam at Orrey holds ninety million litres.', 'Its turbines were replaced in spring.']),
    );
    await sluice.write('code/gate.py', 'def open_gate(level):\n    """Opens the floodgate."""\n    return level > 7\n');
    await sluice.write('song.mp3', new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xfb]));
    await sluice.settle();
    expect(await sluice.find('ferry Lindholm')).toEqual(['inbox/plain.txt']);
    expect(await sluice.find('rye loaf')).toEqual(['inbox/page.html']);
    expect(await sluice.find('turbines')).toEqual(['inbox/report.pdf']);
    expect(await sluice.find('floodgate')).toEqual(['inbox/code/gate.py']);
    expect(await sluice.find('hidden')).toEqual([]);
    const { documents } = await sluice.json<{ documents: { doc_id: string; status: string; reason?: string }[] }>('documents');
    expect(documents.find((document) => document.doc_id === 'inbox/song.mp3')).toMatchObject({
      status: 'skipped',
      reason: 'unsupported_type',
    });
    const pdf = (await sluice.search({ query: 'turbines', mode: 'keyword' })).results[0];
    expect(pdf?.citation).toMatchObject({ page: 2 });
  });

  it('answers with the introduction of the README what the ready message suggests to ask', async () => {
    await sluice.write('README.md', await readFile(new URL('../README.md', import.meta.url)));
    await sluice.settle();
    const { results } = await sluice.search({ query: 'what is sluice' });
    expect(results[0]).toMatchObject({ doc_id: 'inbox/README.md', citation: { start: 0 } });
    expect(results[0]?.text).toContain('keeps a vector store true to your folders');
  });

  it('puts the sunshield first for how the telescope keeps cold', async () => {
    const { results } = await sluice.search({ query: 'How does the telescope keep its instruments cold?' });
    expect(results[0]?.text).toContain('sunshield of five layers');
  });

  it('follows an edit, a save by rename, a rename of a folder and a delete', async () => {
    await sluice.write('a.md', 'The answer is elfenbein.');
    await sluice.settle();
    expect(await sluice.find('elfenbein')).toEqual(['inbox/a.md']);
    await sluice.write('a.md', 'The answer is zwetschge.');
    await sluice.settle();
    expect(await sluice.find('elfenbein')).toEqual([]);
    expect(await sluice.find('zwetschge')).toEqual(['inbox/a.md']);
    await sluice.replace('a.md', 'The answer is dreikorn.');
    await sluice.settle();
    expect(await sluice.find('dreikorn')).toEqual(['inbox/a.md']);

    const computed = await sluice.metric('sluice_embeddings_computed_total');
    await sluice.move('notes', 'archive');
    await sluice.settle();
    expect(await sluice.find('sunshield')).toEqual(['inbox/archive/telescope.md']);
    expect(await sluice.metric('sluice_embeddings_computed_total')).toBe(computed);

    await sluice.remove('plain.txt');
    await sluice.settle();
    expect(await sluice.find('ferry Lindholm')).toEqual([]);
  });

  it('makes a dead letter of a corrupt file, and clears it when the file is fixed', async () => {
    await sluice.write('broken.pdf', '%PDF-1.4\nthis is no document');
    await sluice.settle();
    const { dead_letters } = await sluice.json<{ dead_letters: { doc_id: string; code: string }[] }>('dlq', 'list');
    expect(dead_letters).toMatchObject([{ doc_id: 'inbox/broken.pdf', code: 'corrupt' }]);
    expect((await sluice.status()).dead_letters).toBe(1);
    await sluice.write('broken.pdf', await makePdf(['The fixed page speaks of quinces.']));
    await sluice.settle();
    expect(await sluice.find('quinces')).toEqual(['inbox/broken.pdf']);
    expect((await sluice.status()).dead_letters).toBe(0);
  });

  it('goes on after its worker is killed', async () => {
    const pid = await sluice.pidOf('worker');
    process.kill(pid, 'SIGKILL');
    await sluice.write('after.md', 'Written while the worker was away: marzipan.');
    await expect.poll(() => sluice.find('marzipan'), { timeout: 60_000 }).toEqual(['inbox/after.md']);
    expect(await sluice.pidOf('worker')).not.toBe(pid);
  });

  it('shows readers whole revisions only, through hundreds of replaces', async () => {
    const names = ['v0', 'v1', 'v2', 'v3'];
    for (const name of names) await sluice.write(`poll/${name}.md`, versioned(name, 0));
    await sluice.settle();
    const replacing = new Set<string>();
    const readers = startReaders({
      names,
      readers: 3,
      isReplacing: (name) => replacing.has(name),
      search: async (name, poll) => {
        const mode = (['hybrid', 'dense', 'keyword'] as const)[poll % 3];
        const { results } = await sluice.search({
          query: `mark ${name} part version`,
          mode,
          limit: 20,
          filter: { doc_id: `inbox/poll/${name}.md` },
        });
        return results;
      },
    });
    let replaces = 0;
    let version = 0;
    while (replaces < 200 || readers.counts.overlapping < 2000) {
      version += 1;
      await Promise.all(
        names.map(async (name) => {
          replacing.add(name);
          await (version % 2 === 0
            ? sluice.write(`poll/${name}.md`, versioned(name, version))
            : sluice.replace(`poll/${name}.md`, versioned(name, version)));
          await expect
            .poll(
              async () =>
                (
                  await sluice.search({
                    query: `version-${version}`,
                    mode: 'keyword',
                    limit: 1,
                    filter: { doc_id: `inbox/poll/${name}.md` },
                  })
                ).results.length,
              { timeout: 30_000, interval: 20 },
            )
            .toBeGreaterThan(0);
          replacing.delete(name);
          replaces += 1;
        }),
      );
    }
    await readers.stop();
    const { counts } = readers;
    console.log(
      `readers: ${counts.polls} polls, ${counts.overlapping} overlapping ${replaces} replaces, ${counts.gaps} gaps, ${counts.mixes} mixes, ${counts.stale} stale`,
    );
    expect(counts).toMatchObject({ gaps: 0, mixes: 0, stale: 0, errors: [] });
  }, 600_000);

  it('catches up with what changed while nothing ran, and verifies clean', async () => {
    await sluice.write('swap.md', 'old swap aaa');
    await sluice.write('gone.md', 'will be gone bbb');
    await sluice.settle();
    await sluice.down();
    await sluice.write('swap.md', 'new swap ccc');
    await sluice.remove('gone.md');
    await sluice.write('fresh.md', 'fresh text ddd');
    await sluice.up();
    await sluice.settle();
    expect(await sluice.find('aaa')).toEqual([]);
    expect(await sluice.find('bbb')).toEqual([]);
    expect(await sluice.find('ccc')).toEqual(['inbox/swap.md']);
    expect(await sluice.find('ddd')).toEqual(['inbox/fresh.md']);
    const report = await sluice.verify();
    expect(report, JSON.stringify(report)).toMatchObject({ differences: 0 });
    expect((await sluice.cli('verify')).code).toBe(0);
  });

  it('refuses a second instance on the same data folder', async () => {
    const second = await sluice.cli('up', `inbox=${sluice.folder}`);
    expect(second.code).not.toBe(0);
    expect(`${second.stdout}${second.stderr}`).toMatch(/already|running/i);
    expect(JSON.parse(await readFile(`${sluice.data}/run.json`, 'utf8'))).toBeTypeOf('object');
  });
});
