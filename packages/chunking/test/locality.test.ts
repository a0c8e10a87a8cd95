import type { Chunk, ChunkingSettings, Tokenizer } from '@sluice/core';
import { createTokenizer } from '@sluice/models';
import { createWordEmbedder, testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { chunkDocument, createChunkingCaches } from '../src/index.js';
import { createCountCache } from '../src/text/counts.js';
import { paragraphsOf, parse } from './documents.js';
import { createFakeTokenizer } from './word-pieces.js';

const WORDS =
  'kettle steam boiler valve copper lid spout water heat gauge pressure handle coil thermostat cable whistle rinse scale lime filter base plate seal rubber hinge button light switch cord wall counter kitchen morning tea coffee cup saucer tray spoon sugar milk lemon'.split(
    ' ',
  );

/** A small generator of random numbers, so that a failure can be run again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 0x1_0000_0000) * below);
  };
}

function sentence(random: (below: number) => number, words: number): string {
  const said = Array.from({ length: words }, () => WORDS[random(WORDS.length)] ?? '').join(' ');
  return `${said.charAt(0).toUpperCase()}${said.slice(1)} ${random(1000)}.`;
}

function paragraph(random: (below: number) => number, units: number): string {
  let text = '';
  while (text.length < units) text += `${text === '' ? '' : ' '}${sentence(random, 6 + random(12))}`;
  return text;
}

function edit(random: (below: number) => number, paragraphs: readonly string[]): string[] {
  const edited = [...paragraphs];
  const at = random(edited.length);
  const text = edited[at] ?? '';
  const words = text.split(' ');
  const kinds = [
    () => `${text} ${sentence(random, 8)}`,
    () => words.toSpliced(random(words.length), 1, 'pipe').join(' '),
    () => `${sentence(random, 5)} ${text}`,
    () => words.slice(0, Math.ceil(words.length / 2)).join(' '),
    () => paragraph(random, text.length),
    () => text.replaceAll('. ', '.\n'),
  ];
  edited[at] = kinds[random(kinds.length)]?.() ?? text;
  return edited;
}

function unchangedShare(before: readonly Chunk[], after: readonly Chunk[]): number {
  const known = new Map<string, number>();
  for (const chunk of before) {
    const text = chunk.embeddingText ?? chunk.text;
    known.set(text, (known.get(text) ?? 0) + 1);
  }
  let same = 0;
  for (const chunk of after) {
    const text = chunk.embeddingText ?? chunk.text;
    const left = known.get(text) ?? 0;
    if (left === 0) continue;
    known.set(text, left - 1);
    same++;
  }
  return same / after.length;
}

const SHAPES = [
  { shape: 'paragraphs of a chunk each', units: () => 690 },
  { shape: 'paragraphs of half a chunk', units: () => 330 },
  { shape: 'short paragraphs', units: () => 160 },
  { shape: 'paragraphs of all lengths', units: (random: (below: number) => number) => 60 + random(1_400) },
];
const STRATEGIES: ChunkingSettings[] = [
  { strategy: 'auto' },
  { strategy: 'recursive', structure: false, overlap: 20 },
  { strategy: 'sentence-window' },
  { strategy: 'semantic' },
  { strategy: 'parent-document' },
];
/** All shapes for the default, the two that are hardest (chunks of several paragraphs) for the others. */
const CASES = STRATEGIES.flatMap((settings) =>
  SHAPES.filter(({ shape }) => settings.strategy === 'auto' || shape.includes('half') || shape.includes('short')).map(
    (shape) => ({
      settings,
      ...shape,
    }),
  ),
);

describe('an edit changes only chunks near it', () => {
  it.each(CASES)('$settings, $shape', async ({ settings, units }) => {
    const tokenizer: Tokenizer = await createTokenizer({ folder: testServices().model });
    const embedder = createWordEmbedder(32);
    const caches = createChunkingCaches();
    const random = createRandom(7);
    const paragraphs = Array.from({ length: 1_000 }, () => paragraph(random, units(random)));
    const cut = async (parts: readonly string[]) =>
      (await chunkDocument(paragraphsOf(parts.join('\n\n')), settings, { tokenizer, embedder, ...caches })).chunks;
    const before = await cut(paragraphs);
    const shares: number[] = [];
    for (let round = 0; round < 50; round++) shares.push(unchangedShare(before, await cut(edit(random, paragraphs))));
    shares.sort((a, b) => a - b);
    expect(shares[25]).toBeGreaterThanOrEqual(0.99);
    expect(shares[0]).toBeGreaterThanOrEqual(0.9);
  });

  it('also where there are headings, lists, tables and code', async () => {
    const tokenizer = createFakeTokenizer();
    const caches = createChunkingCaches();
    const random = createRandom(11);
    const parts = Array.from({ length: 1_000 }, (_, index) => {
      if (index % 9 === 0) return `${'#'.repeat(1 + random(3))} ${sentence(random, 3)}`;
      if (index % 9 === 4) return Array.from({ length: 3 + random(20) }, () => `- ${sentence(random, 8)}`).join('\n');
      if (index % 27 === 5)
        return `| a | b |\n|---|---|\n${Array.from({ length: 2 + random(40) }, () => `| ${random(999)} | ${sentence(random, 3)} |`).join('\n')}`;
      return paragraph(random, 60 + random(900));
    });
    const cut = async (text: string) =>
      (await chunkDocument(await parse(text, 'a.md'), { strategy: 'auto' }, { tokenizer, ...caches })).chunks;
    const before = await cut(parts.join('\n\n'));
    const shares: number[] = [];
    for (let round = 0; round < 10; round++) {
      const at = parts.findIndex((part, index) => index > 90 * round && !/^[#|-]/.test(part));
      shares.push(unchangedShare(before, await cut(parts.with(at, paragraph(random, 300)).join('\n\n'))));
    }
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.98);
  });
});

it('tokenises little of a document that was chunked before', async () => {
  const tokenizer = createFakeTokenizer();
  const counts = createCountCache();
  const random = createRandom(3);
  const paragraphs = Array.from({ length: 1_000 }, () => paragraph(random, 500));
  await chunkDocument(paragraphsOf(paragraphs.join('\n\n')), { strategy: 'auto' }, { tokenizer, counts });
  const whole = { ...tokenizer.asked };
  await chunkDocument(paragraphsOf(edit(random, paragraphs).join('\n\n')), { strategy: 'auto' }, { tokenizer, counts });
  expect(whole.units).toBeGreaterThan(500_000);
  expect(tokenizer.asked.units - whole.units).toBeLessThan(10_000);
});
