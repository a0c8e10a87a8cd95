import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { xlsxOf } from '../../test/office-files.js';
import { parseAs } from '../../test/parse-file.js';
import { formatCell, meaningOf } from './number-format.js';

const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join('')}</row>`;
const text = (reference: string, value: string) => `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
const number = (reference: string, value: number, style = 0) => `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
const tables = async (bytes: Uint8Array, options = {}) => {
  const document = await parseAs('a.xlsx', bytes, options);
  expectLawful(document);
  return document.elements.filter((element) => element.kind === 'table').map((element) => element.rows);
};

describe('what a number means', () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/><numFmt numFmtId="166" formatCode="&quot;day &quot;0"/><numFmt numFmtId="167" formatCode="[Red]0.00%"/><numFmt numFmtId="168" formatCode="0.00E+00"/><numFmt numFmtId="169" formatCode="[$-409]d\\ mmm\\ yyyy;@"/></numFmts><cellXfs>' +
    [0, 14, 164, 165, 166, 167, 168, 169, 20, 9].map((id) => `<xf numFmtId="${id}"/>`).join('') +
    '</cellXfs>';
  const cells = (serial: number) => [
    text('A1', 'h'),
    ...[serial, serial, serial, 1.25, 3, 0.125, 12_345, serial, 0.1875, 0.5].map((value, style) =>
      number(`${'BCDEFGHIJK'[style]}1`, value, style),
    ),
  ];
  it.each([
    [
      false,
      45_292.1875,
      [
        'h',
        '45292.1875',
        '2024-01-01 04:30',
        '2024-01-01 04:30',
        '30:00:00',
        'day 3',
        '12.5%',
        '12345',
        '2024-01-01 04:30',
        '04:30',
        '50%',
      ],
    ],
    [
      true,
      43_830,
      ['h', '43830', '2024-01-01', '2024-01-01 00:00', '30:00:00', 'day 3', '12.5%', '12345', '2024-01-01', '04:30', '50%'],
    ],
  ])('1904 dates: %s', async (date1904, serial, expected) => {
    const bytes = xlsxOf([{ rows: row(1, ...cells(serial)) + row(2, text('A2', 'x'), text('B2', 'y')) }], { styles, date1904 });
    expect((await tables(bytes))[0]?.[0]).toEqual(expected);
  });

  it('is the same in every time zone', () => {
    const script = `const{formatCell}=await import(${JSON.stringify(new URL('../../dist/xlsx/number-format.js', import.meta.url).href)});console.log([1,59,60,61,25569,45292.75,45292.999999].map(n=>formatCell(n,{kind:'datetime'},false)).join())`;
    const inZone = (zone: string) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, TZ: zone } }).toString();
    const utc = inZone('UTC');
    expect(utc).toContain('1900-01-01 00:00,1900-02-28 00:00,');
    expect(utc).toContain('1970-01-01 00:00,2024-01-01 18:00,2024-01-02 00:00');
    for (const zone of ['America/New_York', 'Asia/Kolkata', 'Pacific/Apia']) expect(inZone(zone)).toBe(utc);
  });

  it.each([
    ['General', 'number'],
    ['#,##0.00', 'number'],
    ['#,##0.00 "d"', 'shown'],
    ['+0;-0;0', 'number'],
    ['# ?/?', 'number'],
    ['0.00E+00', 'number'],
    ['m/d/yy', 'date'],
    ['mmmm', 'date'],
    ['h:mm AM/PM', 'time'],
    ['mm:ss.0', 'time'],
    ['[mm]:ss', 'duration'],
    ['yyyy"年"m"月"d"日"', 'date'],
    ['0%', 'percent'],
    ['_-* #,##0.00\\ _€_-', 'number'],
  ])('%s is a %s', (code, kind) => {
    expect(meaningOf(200, code).kind).toBe(kind);
  });

  it.each([
    ['00000', 742, '00742'],
    ['"INV-"0000', 42, 'INV-0042'],
    ['000\\-000', 123456, '123-456'],
    ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', 5551234, '555-1234'],
    ['[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', 4155551234, '(415) 555-1234'],
    ['"$"#,##0.00_);("$"#,##0.00)', -1234.5, '($1,234.50)'],
    ['[$€-407]\\ #,##0.00', 1234.5, '€ 1,234.50'],
    ['#,##0.00\\ "€"', 1234567.891, '1,234,567.89 €'],
    ['0.0,"K"', 12345, '12.3K'],
    ['0.00"%"', 3.5, '3.50%'],
    ['"yes";;"no"', 0, 'no'],
    ['"A-"@', 7, 'A-7'],
    ['General" pcs"', 5, '5 pcs'],
    ['##"."##"."##', 101203, '10.12.03'],
    [';;;', 5, '5'],
    ['#"°C"', -0.4, '°C'],
  ])('%s shows %d as %s', (code, value, shown) => {
    expect(formatCell(value, meaningOf(200, code), false)).toBe(shown);
  });

  it('survives any format', () => {
    const code = fc
      .array(
        fc.constantFrom(
          '0',
          '#',
          '?',
          '.',
          ',',
          ';',
          '"',
          '%',
          '@',
          '[',
          ']',
          '$',
          '\\\\',
          '_',
          '*',
          'e+',
          'a',
          '/',
          ' ',
          'General',
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(code, fc.double({ noNaN: true, noDefaultInfinity: true }), (format, value) => {
        expect(typeof formatCell(value, meaningOf(200, format), false)).toBe('string');
      }),
    );
  });

  it('has 15 digits, as spreadsheets show', () => {
    expect(formatCell(0.1 + 0.2, { kind: 'number' }, false)).toBe('0.3');
    expect(formatCell(1e21, { kind: 'number' }, false)).toBe('1e+21');
    expect(formatCell(-5, { kind: 'date' }, false)).toBe('-5');
  });
});

it('reads strings of all kinds, truth values, errors and computed texts', async () => {
  const strings =
    '<si><t xml:space="preserve"> plain </t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>phonetic</t></rPh></si>';
  const cells =
    '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#N/A</v></c><c r="E1" t="str"><f>A1</f><v>made</v></c><c r="F1" t="s"><v>99</v></c><c r="G1" t="d"><v>2024-05-01T00:00:00</v></c>';
  const bytes = xlsxOf([{ rows: `<row r="1">${cells}</row>${row(2, text('A2', 'x'))}` }], { strings });
  expect((await tables(bytes))[0]?.[0]).toEqual(['plain', 'rich', 'TRUE', '#N/A', 'made', '', '2024-05-01']);
});

it('has a heading and tables a sheet, titles as paragraphs, merged cells repeated, hidden sheets on request', async () => {
  const bytes = xlsxOf([
    {
      name: 'Bins &amp; boxes',
      rows: [
        row(1, text('B1', 'Stock of 2024')),
        row(3, text('B3', 'where'), text('C3', 'what'), text('D3', 'count')),
        row(4, text('B4', 'north'), text('C4', 'kettle'), number('D4', 3)),
        row(5, text('C5', 'spout'), number('D5', 4)),
        row(9, text('B9', 'name'), text('C9', 'mail')),
        row(10, text('B10', 'Ana'), number('C10', 7)),
      ].join(''),
      after: '<mergeCells><mergeCell ref="B4:B5"/></mergeCells>',
    },
    { name: 'Secret', state: 'hidden', rows: row(1, text('A1', 'x')) },
    { name: 'Empty', rows: '' },
  ]);
  const document = await parseAs('a.xlsx', bytes);
  expectLawful(document);
  expect(document.elements.map(({ kind, rows, text: own }) => [kind, rows ?? own])).toEqual([
    ['heading', 'Bins & boxes'],
    ['paragraph', 'Stock of 2024'],
    [
      'table',
      [
        ['where', 'what', 'count'],
        ['north', 'kettle', '3'],
        ['north', 'spout', '4'],
      ],
    ],
    [
      'table',
      [
        ['name', 'mail'],
        ['Ana', '7'],
      ],
    ],
  ]);
  expect(document.warnings).toEqual(['hidden_sheet_skipped: Secret']);
  expect((await parseAs('a.xlsx', bytes, { settings: { xlsx: { hidden_sheets: true } } })).text).toContain('Secret');
});

it('keeps merged cells over a whole sheet within bounds', async () => {
  const bytes = xlsxOf([
    {
      rows: row(1, text('A1', 'x')) + row(2, text('A2', 'y')) + row(1_048_576, text('XFD1048576', 'z')),
      after: '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
    },
  ]);
  const document = await parseAs('a.xlsx', bytes);
  expect(document.text).toContain('z');
});

it('decodes escaped characters, and shows texts by their format too', async () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="&quot;No. &quot;@"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>';
  const cells = '<c r="A1" t="inlineStr"><is><t>one_x000A_two _x005F_x0041_</t></is></c><c r="B1" s="1" t="str"><v>7b</v></c>';
  const bytes = xlsxOf([{ rows: `<row r="1">${cells}</row>${row(2, text('A2', 'x'), text('B2', 'y'))}` }], { styles });
  expect((await tables(bytes))[0]?.[0]).toEqual(['one two _x0041_', 'No. 7b']);
});

it('finds the header below what stands above it, and headers of two rows', async () => {
  const grid = (...lines: (string | number)[][]) =>
    lines
      .map((cells, line) =>
        row(
          line + 1,
          ...cells.flatMap((cell, at) => {
            const place = `${'ABCDEFG'[at]}${line + 1}`;
            return cell === '' ? [] : [typeof cell === 'number' ? number(place, cell) : text(place, cell)];
          }),
        ),
      )
      .join('');
  const report = grid(
    ['Sales report'],
    ['Region', 'North'],
    ['Made on', '2024-05-01'],
    ['item', 'unit', 'count', 'price'],
    ['kettle', 'pcs', 3, 9],
    ['spout', 'pcs', 4, 2],
  );
  const first = await parseAs('a.xlsx', xlsxOf([{ rows: report }]));
  expect(first.elements.map(({ kind, rows, text: own }) => [kind, rows?.[0] ?? own])).toEqual([
    ['heading', 'Sheet1'],
    ['paragraph', 'Sales report'],
    ['paragraph', 'Region: North'],
    ['paragraph', 'Made on: 2024-05-01'],
    ['table', ['item', 'unit', 'count', 'price']],
  ]);
  const grouped = grid(['item', 'Spring', '', 'Autumn', ''], ['', 'plan', 'done', 'plan', 'done'], ['kettle', 1, 2, 3, 4]);
  const merged = '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>';
  for (const after of ['', merged]) {
    const second = await parseAs('a.xlsx', xlsxOf([{ rows: grouped, after }]));
    expect(second.elements[1]).toMatchObject({ kind: 'table', headerRows: 2 });
  }
});
