import { expect, it } from 'vitest';
import { fixture, parseAs, parseFixture } from '../../test/parse-file.js';

it.each([
  ['x_locked.xlsx', 'agile encryption', 'north', '6160'],
  ['x_locked_2007.xlsx', 'standard encryption', 'south', '731'],
])('opens %s (%s) with the password that fits', async (name, _, bid, price) => {
  const document = await parseFixture(name, { passwords: ['no', 'kettle'] });
  expect(document.format).toBe('xlsx');
  expect(document.elements.find((element) => element.kind === 'table')?.rows).toEqual([
    ['bid', 'price'],
    [bid, price],
  ]);
});

it('asks for a password, once, whatever the name is', async () => {
  for (const name of ['x.xlsx', 'x.docx', 'x'])
    await expect(parseAs(name, fixture('x_locked.xlsx'))).rejects.toMatchObject({ code: 'password_required', kind: 'permanent' });
  await expect(parseFixture('x_locked.xlsx', { passwords: ['wrong'] })).rejects.toMatchObject({ code: 'password_required' });
});

it('calls a damaged one corrupt', async () => {
  const bytes = fixture('x_locked.xlsx');
  for (const at of [1024, 4096, 7000]) {
    const result = parseAs('x.xlsx', bytes.slice(0, at), { passwords: ['kettle'] });
    await expect(result).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:corrupt|unsupported_type|password_required)$/),
    });
  }
});
