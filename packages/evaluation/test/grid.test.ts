import { describe, expect, it } from 'vitest';
import { readGrid } from '../src/grid.js';
import { scratchConfiguration } from '../src/scratch-configuration.js';

describe('readGrid', () => {
  it('spreads lists of values, and combines collections with searches', () => {
    const grid = readGrid(
      'chunking:\n  - { strategy: auto, max_tokens: [100, 200] }\n  - { strategy: sentence-window }\nsearch: [{}, { alpha: [0.4, 0.6] }]',
      'g.yaml',
    );
    expect(grid.ingest.map(({ name, chunking }) => [name, chunking])).toEqual([
      ['auto, max_tokens 100', { strategy: 'auto', max_tokens: 100 }],
      ['auto, max_tokens 200', { strategy: 'auto', max_tokens: 200 }],
      ['sentence-window', { strategy: 'sentence-window' }],
    ]);
    expect(grid.search.map(({ name }) => name)).toEqual(['defaults', 'alpha 0.4', 'alpha 0.6']);
  });

  it('knows equal settings by their id, and measures them once', () => {
    const ids = (text: string) => readGrid(text, 'g.yaml').ingest.map(({ id }) => id);
    expect(ids('chunking: [{ strategy: auto, overlap: 0 }, { overlap: 0, strategy: auto }]')).toHaveLength(1);
    expect(ids('chunking: [{ strategy: auto }]')).not.toEqual(ids('chunking: [{ strategy: recursive }]'));
    expect(ids('search: [{}]')).toHaveLength(1);
  });

  it.each([
    ['chunking: 3', 'g.yaml: chunking'],
    ['fusion: [{}]', 'g.yaml'],
    ['a: [', 'is not YAML'],
    [`search: [{ alpha: [${Array.from({ length: 501 }, (_, n) => n / 501).join(', ')}] }]`, '501 points'],
  ])('refuses %s', (text, message) => {
    expect(() => readGrid(text, 'g.yaml')).toThrow(message);
  });
});

describe('scratchConfiguration', () => {
  const text = `sources:
  - { name: a, path: ./docs, chunking: { strategy: semantic }, rules: [{ match: "x/**", metadata: { category: x }, chunking: { overlap: 9 } }] }
schema: { default_security_level: 1 }
eval: { gate: { "ndcg@10": 0.5 } }
api: { port: 4180 }
`;
  const file = '/etc/sluice/sluice.yaml';
  const made = (point: object) => JSON.parse(scratchConfiguration({ file, text }, point)) as Record<string, unknown>;

  it('chunks every source in the way of the point, and keeps what it says of metadata', () => {
    expect(made({ chunking: { strategy: 'auto' } })).toEqual({
      sources: [
        {
          name: 'a',
          path: '/etc/sluice/docs',
          chunking: { strategy: 'auto' },
          rules: [{ match: 'x/**', metadata: { category: 'x' } }],
        },
      ],
      schema: { default_security_level: 1 },
    });
  });

  it('keeps the chunking of the file where the point names none', () => {
    const { sources, embedding } = made({ embedding: { model: 'm' } });
    expect(sources).toMatchObject([{ chunking: { strategy: 'semantic' }, rules: [{ chunking: { overlap: 9 } }] }]);
    expect(embedding).toEqual({ model: 'm' });
  });

  it('needs sources', () => {
    expect(() => scratchConfiguration({ file, text: 'schema: {}' }, {})).toThrow('needs sources');
    expect(JSON.parse(scratchConfiguration({ folders: { corpus: '/c' } }, {}))).toEqual({
      sources: [{ name: 'corpus', path: '/c', metadata: { security_level: 1 } }],
    });
  });
});
