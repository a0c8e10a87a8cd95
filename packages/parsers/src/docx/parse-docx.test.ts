import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { docxOf, docxParagraph as p, relationships } from '../../test/office-files.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';

const shape = (document: { elements: { kind: string; level?: number; text: string }[] }) =>
  document.elements.map(({ kind, level, text }) => [level === undefined ? kind : `${kind} ${level}`, text]);
const read = async (body: string, parts: Record<string, string> = {}) => {
  const document = await parseAs('a.docx', docxOf(body, parts));
  expectLawful(document);
  return document;
};

it('accepts tracked changes: texts, paragraph ends and rows', async () => {
  const document = await parseFixture('d_tracked.docx');
  expect(shape(document).filter(([kind]) => kind === 'paragraph')).toEqual([
    ['paragraph', 'The deposit is 750 crowns.'],
    ['paragraph', 'Refunds are monthly.'],
  ]);
  expect(document.elements.find((element) => element.kind === 'table')?.rows).toEqual([['Kept row']]);
  expect(document.text).not.toMatch(/500|Ghost/);
  expectLawful(document);
});

it('accepts moves, inserted and deleted cells, and passes over comments, field codes and hidden text', async () => {
  const document = await read(
    `<w:p><w:moveFrom><w:r><w:t>Moved away.</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>Moved here. </w:t></w:r></w:moveTo>
     <w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK x</w:instrText></w:r><w:r><w:t>code</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Result. </w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>
     <w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden. </w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>Shown.</w:t></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>
     <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:tcPr><w:cellDel/></w:tcPr><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
  );
  expect(document.elements.map((element) => element.text)).toEqual(['Moved here. Result. Shown.', '| a |\n| --- |']);
});

const styles = `<w:styles xmlns:w="w">
  <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Own"><w:name w:val="My own"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
  <w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Quote"/></w:style>
  <w:style w:type="paragraph" w:styleId="C"><w:name w:val="caption"/></w:style>
  <w:style w:type="paragraph" w:styleId="Code"><w:name w:val="HTML Preformatted"/></w:style>
  <w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style></w:styles>`;

it('knows headings by style in any language, by what it is based on and by outline level', async () => {
  const document = await read(
    [
      p('The title', 'T'),
      p('One', 'berschrift1'),
      p('Two', 'Own'),
      '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Three</w:t></w:r></w:p>',
      '<w:p><w:pPr><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>Body</w:t></w:r></w:p>',
      p('Said so.', 'Q'),
      p('Table 1: bins', 'C'),
      p('let x = 1', 'Code'),
      p('  x + 1', 'Code'),
      p('Round', 'Loop'),
    ].join(''),
    { 'word/styles.xml': styles },
  );
  expect(shape(document)).toEqual([
    ['heading 1', 'The title'],
    ['heading 1', 'One'],
    ['heading 1', 'Two'],
    ['heading 3', 'Three'],
    ['paragraph', 'Body'],
    ['quote', 'Said so.'],
    ['caption', 'Table 1: bins'],
    ['code', 'let x = 1\n  x + 1'],
    ['paragraph', 'Round'],
  ]);
});

it('numbers lists as Word does', async () => {
  const level = (n: number, format: string, text: string) =>
    `<w:lvl w:ilvl="${n}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%1.%2)')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>`;
  const item = (text: string, numId: number, depth = 0) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${numId}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const document = await read(
    [
      item('one', 1),
      item('inner', 1, 1),
      item('more', 1, 1),
      item('two', 1),
      p('Between.'),
      item('three', 1),
      item('five', 3),
      p('Then:'),
      item('dot', 2),
      item('out', 0),
    ].join(''),
    { 'word/numbering.xml': numbering },
  );
  expect(document.elements.map((element) => element.text)).toEqual([
    '1. one\n  1.a) inner\n  1.b) more\n2. two',
    'Between.',
    '3. three',
    '5. five',
    'Then:',
    '- dot',
    'out',
  ]);
  const [first] = document.elements;
  expect(first?.parts?.map((part) => document.text.slice(part.start, part.end))).toEqual([
    '1. one\n  1.a) inner\n  1.b) more',
    '2. two',
  ]);
});

it('reads tables with spans, header rows and tables within cells', async () => {
  const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${text}</w:tc>`;
  const document = await read(
    `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell(p('a'))}${cell(p('b'), '<w:gridSpan w:val="2"/>')}</w:tr>
     <w:tr>${cell(p('down'), '<w:vMerge w:val="restart"/>')}${cell(p('x | y'))}${cell(p('one') + p('two'))}</w:tr>
     <w:tr>${cell(p(''), '<w:vMerge/>')}${cell(`${p('before')}<w:tbl><w:tr>${cell(p('n1'))}${cell(p('n2'))}</w:tr></w:tbl>${p('')}`)}${cell(p('z'))}</w:tr></w:tbl>`,
  );
  const [table] = document.elements;
  expect(table?.rows).toEqual([
    ['a', 'b', 'b'],
    ['down', 'x | y', 'one two'],
    ['down', 'before n1 n2', 'z'],
  ]);
  expect(table?.text).toContain('x \\| y');
  expect(table?.headerRows).toBe(1);
});

it('reads text boxes once, notes at the end with their marks, and formulas in a line', async () => {
  const box = `<w:txbxContent>${p('In the box.')}</w:txbxContent>`;
  const document = await read(
    `<w:p><w:r><w:t>Anchor.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><wps:txbx>${box}</wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox>${box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>
     <w:p><w:r><w:t>Marked</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t> twice</w:t></w:r><w:r><w:endnoteReference w:id="3"/></w:r></w:p>
     <w:p><m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>
     <w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t>done</w:t><w:noBreakHyphen/><w:t>ish</w:t><w:softHyphen/><w:tab/><w:t>x</w:t></w:r></w:p>`,
    {
      'word/footnotes.xml': `<w:footnotes xmlns:w="w"><w:footnote w:id="0" w:type="separator">${p('---')}</w:footnote><w:footnote w:id="2">${p('The foot.')}</w:footnote></w:footnotes>`,
      'word/endnotes.xml': `<w:endnotes xmlns:w="w"><w:endnote w:id="3">${p('The end.')}</w:endnote></w:endnotes>`,
    },
  );
  expect(shape(document)).toEqual([
    ['paragraph', 'Anchor.'],
    ['paragraph', 'In the box.'],
    ['paragraph', 'Marked[1] twice[2]'],
    ['formula', 'E=mc^2'],
    ['paragraph', '✓done-ish x'],
    ['paragraph', '[1] The foot.'],
    ['paragraph', '[2] The end.'],
  ]);
});

it('reads content controls and what the document says of itself', async () => {
  const document = await read(
    `<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>${p('Inside.')}</w:sdtContent></w:sdt>`,
    {
      'docProps/core.xml':
        '<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc" xmlns:dcterms="t"><dc:title>Plan</dc:title><dc:creator>Ana</dc:creator><dcterms:created>2024-05-01T10:00:00Z</dcterms:created><cp:keywords>a; b</cp:keywords></cp:coreProperties>',
    },
  );
  expect(document.text).toBe('Inside.');
  expect(document.metadata).toEqual({ doc_title: 'Plan', author: 'Ana', created_at: '2024-05-01T10:00:00Z', tags: ['a', 'b'] });
});

it('keeps what stands before a table there, though the end of its paragraph was deleted', async () => {
  const endless = '<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>Before.</w:t></w:r></w:p>';
  const document = await read(`${endless}<w:tbl><w:tr><w:tc>${p('In.')}</w:tc></w:tr></w:tbl>${p('Behind.')}`);
  expect(shape(document)).toEqual([
    ['paragraph', 'Before.'],
    ['table', '| In. |\n| --- |'],
    ['paragraph', 'Behind.'],
  ]);
});

const run = (text: string, align?: string) =>
  `<w:r>${align === undefined ? '' : `<w:rPr><w:vertAlign w:val="${align}"/></w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;

it('keeps raised numbers apart from the digits before them', async () => {
  const document = await read(
    `<w:p>${run('holds 10')}${run('6', 'superscript')}${run(' litres, costs 45')}${run('3', 'superscript')}${run(' crowns, 30 m')}${run('2', 'superscript')}${run(', CO')}${run('2', 'subscript')}</w:p>`,
  );
  expect(document.text).toBe('holds 10^6 litres, costs 45^3 crowns, 30 m², CO2');
});

it('numbers headings as Word shows them, by levels of a list style too', async () => {
  const level = (at: number, text: string, more = '') =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${at === 0 ? 'upperRoman' : 'decimal'}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:styleLink w:val="L"/>${level(0, 'Part %1')}${level(1, '%1.%2', '<w:isLgl/>')}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="L"/></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
  const heading = (text: string, at: number) =>
    `<w:p><w:pPr><w:outlineLvl w:val="${at}"/><w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="1"/></w:numPr></w:pPr>${run(text)}</w:p>`;
  const document = await read(
    [heading('Care', 0), heading('Daily', 1), heading('Weekly', 1), heading('Repair', 0), heading('Tools', 1)].join(''),
    {
      'word/numbering.xml': numbering,
    },
  );
  expect(shape(document)).toEqual([
    ['heading 1', 'Part I Care'],
    ['heading 2', '1.1 Daily'],
    ['heading 2', '1.2 Weekly'],
    ['heading 1', 'Part II Repair'],
    ['heading 2', '2.1 Tools'],
  ]);
});

const related = (...targets: [type: string, target: string][]) => ({ 'word/_rels/document.xml.rels': relationships(...targets) });
const mht = [
  'MIME-Version: 1.0',
  'Content-Type: multipart/related; type="text/html"; boundary="p"',
  '',
  '--p',
  'Content-Type: text/html; charset="utf-8"',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<html><body><h1 class=3D"t">Hire</h1><p>caf=C3=A9 inc=',
  'luded</p></body></html>',
  '--p--',
  '',
].join('\r\n');

it.each([
  ['chunk.html', '<html><body><h1>Hire</h1><p>café included</p></body></html>'],
  ['chunk.mht', mht],
  ['chunk.txt', 'Hire\n\ncafé included'],
])('reads what is embedded in place: %s', async (name, content) => {
  const parts = { ...related(['aFChunk', name]), [`word/${name}`]: content };
  const document = await read(`${p('Before.')}<w:altChunk r:id="r1"/>${p('After.')}`, parts);
  expect(document.text).toBe('Before.\n\nHire\n\ncafé included\n\nAfter.');
  expect(document.warnings).toEqual([]);
});

it('says what it can not read of what is embedded', async () => {
  const parts = { ...related(['aFChunk', 'a.bin']), 'word/a.bin': '\u0000\u0001\u0002\u0003'.repeat(20) };
  expect((await read(`${p('Before.')}<w:altChunk r:id="r1"/>`, parts)).warnings).toEqual([
    'part_not_read: a document embedded as altChunk (unsupported_type)',
  ]);
  const missing = await read(`${p('Before.')}<w:altChunk r:id="r9"/>`);
  expect(missing.warnings).toEqual(['part_missing: a document embedded as altChunk']);
});

const points = (kind: 'str' | 'num', ...values: string[]) =>
  `<c:${kind}Ref><c:${kind}Cache>${values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('')}</c:${kind}Cache></c:${kind}Ref>`;
const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Kettles </a:t></a:r><a:r><a:t>sold</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
  <c:ser><c:tx>${points('str', 'North')}</c:tx><c:cat>${points('str', '2023', '2024')}</c:cat><c:val>${points('num', '3', '4.5')}</c:val></c:ser>
  <c:ser><c:tx>${points('str', 'South')}</c:tx><c:cat>${points('str', '2023', '2024')}</c:cat><c:val>${points('num', '7', '8')}</c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;

it('reads charts as tables', async () => {
  const body = `<w:p><w:r><w:drawing><c:chart xmlns:c="c" r:id="r1"/></w:drawing></w:r></w:p>${p('After.')}`;
  const document = await read(body, { ...related(['chart', 'charts/chart1.xml']), 'word/charts/chart1.xml': chart });
  expect(document.elements.map(({ kind, rows, text }) => [kind, rows ?? text])).toEqual([
    ['caption', 'Kettles sold'],
    [
      'table',
      [
        ['', 'North', 'South'],
        ['2023', '3', '7'],
        ['2024', '4.5', '8'],
      ],
    ],
    ['paragraph', 'After.'],
  ]);
});

it('reads headers and footers once, where they say what the body does not', async () => {
  const part = (...lines: string[]) => `<w:hdr xmlns:w="w">${lines.map((line) => p(line)).join('')}</w:hdr>`;
  const parts = {
    ...related(['header', 'header1.xml'], ['header', 'header2.xml'], ['footer', 'footer1.xml']),
    'word/header1.xml': part('Tidewater Board', 'Ref. TB-4471'),
    'word/header2.xml': part('Tidewater Board', 'The handbook'),
    'word/footer1.xml': part('Page 2 of 9', '3', '- iv -'),
  };
  const body = p('The handbook begins.');
  expect((await read(body, parts)).text).toBe('The handbook begins.\n\nTidewater Board\n\nRef. TB-4471');
  const without = await parseAs('a.docx', docxOf(body, parts), { settings: { docx: { headers_footers: false } } });
  expect(without.text).toBe('The handbook begins.');
});
