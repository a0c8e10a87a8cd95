import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

it('reads cells in order, with what they printed', async () => {
  const notebook = {
    nbformat: 4,
    metadata: { language_info: { name: 'julia' } },
    cells: [
      { cell_type: 'markdown', source: ['# Care\n', '\n', 'Fill *it*.'] },
      {
        cell_type: 'code',
        source: 'x = 1\nx + 1',
        outputs: [
          { output_type: 'stream', text: ['warm\n'] },
          { data: { 'text/plain': ['2'], 'image/png': 'iVBOR' } },
          { ename: 'E' },
        ],
      },
      { cell_type: 'raw', source: 'Raw text.' },
      { cell_type: 'code', source: [], outputs: [] },
    ],
  };
  const document = await parseAs('a.ipynb', JSON.stringify(notebook));
  expectLawful(document);
  expect(document.elements.map(({ kind, lang, text }) => [kind, lang, text])).toEqual([
    ['heading', undefined, 'Care'],
    ['paragraph', undefined, 'Fill *it*.'],
    ['code', 'julia', 'x = 1\nx + 1'],
    ['code', undefined, 'warm'],
    ['code', undefined, '2'],
    ['paragraph', undefined, 'Raw text.'],
  ]);
  expect(document.metadata).toEqual({ doc_title: 'Care' });
});

it('reads notebooks of version 3, and refuses what is none', async () => {
  const old = { nbformat: 3, worksheets: [{ cells: [{ cell_type: 'code', input: ['a = 1'], outputs: [] }] }] };
  expect((await parseAs('a.ipynb', JSON.stringify(old))).text).toBe('a = 1');
  for (const bad of ['{"cells": [', '[1]', '{"cells": [{"source": 1}]}'])
    await expect(parseAs('a.ipynb', bad)).rejects.toMatchObject({ code: 'corrupt' });
});
