import { describe, expect, it } from 'vitest';
import { expectLawful } from '../test/laws.js';
import { xlsxOf } from '../test/office-files.js';
import { parseAs } from '../test/parse-file.js';

const TABLE =
  '<table border="1"><tr><th>Part</th><th>Price</th></tr><tr><td style="mso-number-format:\'\\@\'">Gasket &amp; ring</td><td>14,50</td></tr></table>';
const PARTS = [
  ['Part', 'Price'],
  ['Gasket & ring', '14,50'],
];

describe('HTML under the name of an office file', () => {
  it.each([
    ['a page', `<!doctype html><html><body>${TABLE}</body></html>`],
    [
      'a page of Office',
      `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta charset="utf-8"></head><body>${TABLE}</body></html>`,
    ],
    ['a table', TABLE],
    ['a meta tag', `<meta http-equiv="Content-Type" content="text/html; charset=utf-8">${TABLE}`],
    ['a comment', `<!-- made by a program -->\n<style>td { color: red }</style>${TABLE}`],
  ])('is read as what it is: %s', async (_, content) => {
    for (const name of ['a.xls', 'a.xlsx', 'a.doc', 'a.docx']) {
      const document = await parseAs(name, content);
      expect(document.format).toBe('html');
      expect(document.elements.find(({ kind }) => kind === 'table')?.rows).toEqual(PARTS);
      expectLawful(document);
    }
  });

  it('but text files stay text', async () => {
    expect((await parseAs('a.txt', TABLE)).format).toBe('text');
    expect((await parseAs('a.csv', `${TABLE},x`)).format).toBe('csv');
  });
});

const CELL = (type: string, value: string, more = '') => `<Cell${more}><Data ss:Type="${type}">${value}</Data></Cell>`;
const workbook = (rows: string) =>
  `<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Styles><Style ss:ID="s1"><NumberFormat ss:Format="00000"/></Style></Styles><Worksheet ss:Name="Stock &amp; more"><Table>${rows}</Table></Worksheet></Workbook>`;

describe('Excel 2003 XML', () => {
  it('is read as a workbook, under any name', async () => {
    const rows = [
      `<Row>${CELL('String', 'part')}${CELL('String', 'code')}${CELL('String', 'on', ' ss:MergeAcross="1"')}</Row>`,
      `<Row ss:Index="2">${CELL('String', 'hinge', ' ss:MergeDown="1"')}${CELL('Number', '742', ' ss:StyleID="s1"')}${CELL('DateTime', '2024-05-01T00:00:00.000')}${CELL('Boolean', '1')}</Row>`,
      `<Row>${CELL('Number', '9', ' ss:Index="2" ss:StyleID="s1"')}${CELL('DateTime', '2024-05-02T10:30:00.000')}</Row>`,
    ].join('');
    for (const name of ['a.xls', 'a.xml', 'a.xlsx']) {
      const document = await parseAs(name, workbook(rows));
      expect(document.format).toBe('excel-xml');
      expect(document.elements.map(({ kind, rows: cells, text }) => [kind, cells ?? text])).toEqual([
        ['heading', 'Stock & more'],
        [
          'table',
          [
            ['part', 'code', 'on', 'on'],
            ['hinge', '00742', '2024-05-01', 'TRUE'],
            ['hinge', '00009', '2024-05-02 10:30:00', ''],
          ],
        ],
      ]);
      expectLawful(document);
    }
  });

  it('is corrupt where it is cut off', async () => {
    await expect(parseAs('a.xls', workbook('<Row>').slice(0, -30))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

const archive = [
  'MIME-Version: 1.0',
  'Content-Type: multipart/related; type="text/html"; boundary="----=part"',
  '',
  '------=part',
  'Content-Type: text/html; charset="windows-1252"',
  'Content-Transfer-Encoding: quoted-printable',
  'Content-Location: file:///C:/made/up.html',
  '',
  '<html><body><h1 class=3D"t">Hire of rooms</h1><p>The deposit is =80310, caf=E9 inc=',
  'luded.</p><img src=3D"a.png"></body></html>',
  '------=part',
  'Content-Type: image/png',
  'Content-Transfer-Encoding: base64',
  'Content-Location: file:///C:/made/a.png',
  '',
  'iVBORw0KGgo=',
  '------=part--',
  '',
].join('\r\n');

it.each(['a.mht', 'a.mhtml', 'a.doc', 'a.xls', 'a'])('reads the page of a web archive named %s', async (name) => {
  const document = await parseAs(name, archive);
  expect(document.format).toBe('mhtml');
  expect(document.text).toBe('Hire of rooms\n\nThe deposit is €310, café included.');
  expectLawful(document);
});

it('reads a workbook under the name of a CSV file', async () => {
  const rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>';
  expect((await parseAs('a.csv', xlsxOf([{ rows }]))).format).toBe('xlsx');
});
