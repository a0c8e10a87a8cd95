import { SluiceError } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { oneElement } from '../test/documents.js';
import { createFakeTokenizer } from '../test/word-pieces.js';
import { checkChunking, chunkDocument } from './chunk-document.js';
import { chunkingSchema, createChunkingSchema, STRATEGIES } from './settings.js';

/** Paths of what the schema refuses. */
function refused(settings: unknown, modelTokens = 256): string[] {
  const result = createChunkingSchema(modelTokens).safeParse(settings);
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
}

describe.each(STRATEGIES)('sizes that never advance or are cut by the model: %s', (strategy) => {
  it.each([
    { settings: { max_chars: 10, overlap_chars: 10 }, path: 'overlap_chars' },
    { settings: { max_chars: 10, overlap_chars: 12 }, path: 'overlap_chars' },
    { settings: { max_chars: 0 }, path: 'max_chars' },
    { settings: { max_chars: -1 }, path: 'max_chars' },
    { settings: { max_chars: 10, overlap_chars: -2 }, path: 'overlap_chars' },
    { settings: { max_chars: 1.5 }, path: 'max_chars' },
    { settings: { overlap_chars: 3 }, path: 'overlap_chars' },
    { settings: { max_tokens: 0 }, path: 'max_tokens' },
    { settings: { max_tokens: 2 }, path: 'max_tokens' },
    { settings: { max_tokens: -5 }, path: 'max_tokens' },
    { settings: { max_tokens: 257 }, path: 'max_tokens' },
    { settings: { max_tokens: 'many' }, path: 'max_tokens' },
    { settings: { min_tokens: -1 }, path: 'min_tokens' },
    { settings: { min_tokens: 201 }, path: 'min_tokens' },
    { settings: { max_tokens: 100, max_chars: 100 }, path: 'max_chars' },
    { settings: { heading_prefix: 'yes' }, path: 'heading_prefix' },
  ])('$settings', ({ settings, path }) => {
    expect(refused({ strategy, ...settings })).toContain(path);
  });

  it('takes a size of one unit', async () => {
    const tokenizer = createFakeTokenizer();
    const { chunks } = await chunkDocument(
      oneElement('abcdefghijklmnopqrstuvwxyz'),
      { strategy: 'recursive', max_chars: 1 },
      { tokenizer },
    );
    expect(chunks.map((chunk) => chunk.text).join('')).toBe('abcdefghijklmnopqrstuvwxyz');
    expect(chunks).toHaveLength(26);
  });
});

it.each([
  { settings: { strategy: 'recursive', overlap: 200 }, paths: ['overlap'] },
  { settings: { strategy: 'auto', max_tokens: 10, overlap: 10 }, paths: ['overlap'] },
  { settings: { strategy: 'auto', max_tokens: 10, overlap: 12 }, paths: ['overlap'] },
  { settings: { strategy: 'recursive', max_tokens: 10, overlap: -2 }, paths: ['overlap'] },
  { settings: { strategy: 'recursive', max_chars: 10, overlap: 2 }, paths: ['overlap'] },
  { settings: { strategy: 'recursive', separators: [''] }, paths: ['separators.0'] },
  { settings: { strategy: 'sentence-window', window: -1 }, paths: ['window'] },
  { settings: { strategy: 'sentence-window', overlap: 1 }, paths: [''] },
  { settings: { strategy: 'semantic', percentile: 90, threshold: 0.4 }, paths: ['threshold'] },
  { settings: { strategy: 'semantic', percentile: 101 }, paths: ['percentile'] },
  { settings: { strategy: 'semantic', threshold: 2 }, paths: ['threshold'] },
  { settings: { strategy: 'semantic', buffer: -1, neighbourhood: 1 }, paths: ['neighbourhood', 'buffer'] },
  { settings: { strategy: 'propositions', concurrency: 0, passage_tokens: 0 }, paths: ['concurrency', 'passage_tokens'] },
  { settings: { strategy: 'parent-document', parent_tokens: 100 }, paths: ['parent_tokens'] },
  { settings: { strategy: 'best' }, paths: ['strategy'] },
  { settings: { strategy: 'auto', sizes: 3 }, paths: [''] },
])('refuses $settings', ({ settings, paths }) => {
  expect(refused(settings)).toEqual(paths);
});

it('takes what a larger model takes', () => {
  expect(refused({ strategy: 'auto', max_tokens: 500 }, 512)).toEqual([]);
  expect(refused({ strategy: 'auto', max_tokens: 513 }, 512)).toEqual(['max_tokens']);
});

it('fills in the defaults', () => {
  expect(chunkingSchema.parse({})).toEqual({ strategy: 'auto', heading_prefix: true, structure: true });
  expect(chunkingSchema.parse({ strategy: 'semantic' })).toEqual({
    strategy: 'semantic',
    heading_prefix: true,
    neighbourhood: 200,
    buffer: 0,
  });
  expect(chunkingSchema.parse({ strategy: 'sentence-window' })).toMatchObject({ window: 3 });
  expect(chunkingSchema.parse({ strategy: 'propositions' })).toMatchObject({ concurrency: 4, passage_tokens: 400 });
  expect(chunkingSchema.parse({ strategy: 'parent-document' })).toMatchObject({ parent_tokens: 800, structure: true });
});

it('names each wrong key in the error', () => {
  try {
    checkChunking({ strategy: 'auto', max_tokens: 900, min_tokens: -1 }, 256);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ code: 'invalid_configuration', details: { path: 'chunking.max_tokens' } });
    expect(String(error)).toMatch(/chunking\.max_tokens: must be at most 256.*chunking\.min_tokens/);
  }
});
