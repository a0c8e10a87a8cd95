import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';
import { makeOdf } from '../bench/make-open-formats.js';

const read = async (name: string, bytes: Uint8Array, options = {}) => {
  const document = await parseAs(name, bytes, options);
  expectLawful(document);
  return document;
};
const shape = (document: Awaited<ReturnType<typeof parseAs>>) =>
  document.elements.map(({ kind, level, rows, text }) => [level === undefined ? kind : `${kind} ${level}`, rows ?? text]);

it('reads text: headings, lists, tables, notes and boxes, without what was deleted', async () => {
  const styles =
    '<style:style style:name="T1" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style><style:style style:name="P1" style:parent-style-name="Title"/><text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-bullet text:level="2"/></text:list-style>';
  const body = `<text:tracked-changes><text:changed-region><text:deletion><text:p>Gone.</text:p></text:deletion></text:changed-region></text:tracked-changes>
    <text:p text:style-name="P1">Care</text:p><text:h text:outline-level="2">Daily</text:h>
    <text:p>Fill<text:s text:c="2"/>it to 10<text:span text:style-name="T1">6</text:span> cups<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Or less.</text:p></text:note-body></text:note>.<text:line-break/>Wait.<office:annotation><text:p>Why?</text:p></office:annotation></text:p>
    <text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>
    <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2"><text:p>b</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>y</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell/><table:table-cell><text:p>z</text:p></table:table-cell></table:table-row></table:table>
    <text:p>Before.<draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame></text:p>`;
  const document = await read('a.odt', makeOdf('text', body, { styles }));
  expect(shape(document)).toEqual([
    ['heading 1', 'Care'],
    ['heading 2', 'Daily'],
    ['paragraph', 'Fill it to 10^6 cups[1].\nWait.'],
    ['list', '1. one\n  - inner\n2. two'],
    [
      'table',
      [
        ['a', 'b', 'b'],
        ['x', 'y', 'y'],
        ['x', 'z', ''],
      ],
    ],
    ['paragraph', 'Before.'],
    ['paragraph', 'In a box.'],
    ['paragraph', '[1] Or less.'],
  ]);
  expect(document.metadata).toEqual({ doc_title: 'Care', author: 'Ida', created_at: '2024-05-01T10:00:00' });
});

it('reads sheets as they are shown, hidden ones on request', async () => {
  const cell = (text: string, more = '') => `<table:table-cell${more}><text:p>${text}</text:p></table:table-cell>`;
  const row = (cells: string, more = '') => `<table:table-row${more}>${cells}</table:table-row>`;
  const sheet = (name: string, rows: string, style = 'S1') =>
    `<table:table table:name="${name}" table:style-name="${style}">${rows}</table:table>`;
  const styles = '<style:style style:name="S2"><style:table-properties table:display="false"/></style:style>';
  const rows =
    row(cell('part') + cell('code')) +
    row(cell('hinge') + cell('00742', ' office:value="742"')) +
    row('<table:table-cell table:number-columns-repeated="1024"/>', ' table:number-rows-repeated="1048000"');
  const body = sheet('Stock', rows) + sheet('Secret', row(cell('x')), 'S2');
  const document = await read('a.ods', makeOdf('spreadsheet', body, { styles }));
  expect(shape(document)).toEqual([
    ['heading 1', 'Stock'],
    [
      'table',
      [
        ['part', 'code'],
        ['hinge', '00742'],
      ],
    ],
  ]);
  expect(document.warnings).toEqual(['hidden_sheet_skipped: Secret']);
  const all = await read('a.ods', makeOdf('spreadsheet', body, { styles }), { settings: { xlsx: { hidden_sheets: true } } });
  expect(all.text).toContain('Secret');
});

it('reads slides with their numbers, titles and notes', async () => {
  const slide = (title: string, text: string) =>
    `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>${title}</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:list><text:list-item><text:p>${text}</text:p></text:list-item></text:list></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say ${text}.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>`;
  const bytes = makeOdf('presentation', slide('One', 'first') + slide('Two', 'second'));
  const document = await read('a.odp', bytes);
  expect(document.elements.map(({ kind, page, text }) => [kind, page, text])).toEqual([
    ['heading', 1, 'One'],
    ['list', 1, '- first'],
    ['paragraph', 1, 'Say first.'],
    ['heading', 2, 'Two'],
    ['list', 2, '- second'],
    ['paragraph', 2, 'Say second.'],
  ]);
  expect((await read('a.odp', bytes, { settings: { pptx: { notes: false } } })).text).not.toContain('Say');
});

it('says what is damaged or locked', async () => {
  const manifest = '<manifest><file-entry><encryption-data/></file-entry></manifest>';
  await expect(parseAs('a.odt', makeOdf('text', '', { parts: { 'META-INF/manifest.xml': manifest } }))).rejects.toMatchObject({
    code: 'password_required',
  });
  await expect(parseAs('a.odt', makeOdf('text', '<text:p>x</text:p>').slice(0, 250))).rejects.toMatchObject({ code: 'corrupt' });
  await expect(parseAs('a.odt', new TextEncoder().encode('PK'))).rejects.toMatchObject({ code: 'corrupt' });
});
