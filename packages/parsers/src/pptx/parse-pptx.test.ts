import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseFixture } from '../../test/parse-file.js';

it('reads slides in the order of the show, groups, and each slide with its own notes', async () => {
  const document = await parseFixture('s_order_groups.pptx');
  expect(document.elements.map((element) => [element.page, element.text])).toEqual([
    [1, 'Opening plan'],
    [1, 'Say the budget is 900'],
    [2, 'Flow chart'],
    [2, 'Step intake'],
    [2, 'Step nested'],
    [3, 'Closing thanks'],
  ]);
  expectLawful(document);
});
