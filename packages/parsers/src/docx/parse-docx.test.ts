import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseFixture } from '../../test/parse-file.js';

it('accepts tracked changes: texts, paragraph ends and rows', async () => {
  const document = await parseFixture('d_tracked.docx');
  expect(document.elements.filter((element) => element.kind === 'paragraph').map((element) => element.text)).toEqual([
    'The deposit is 750 crowns.',
    'Refunds are monthly.',
  ]);
  expect(document.elements.find((element) => element.kind === 'table')?.rows).toEqual([['Kept row']]);
  expect(document.text).not.toMatch(/500|Ghost/);
  expectLawful(document);
});
