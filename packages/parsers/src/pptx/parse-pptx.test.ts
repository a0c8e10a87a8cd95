import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { pptxOf, relationships } from '../../test/office-files.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';

const shape = (text: string, placeholder = '', properties = '') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="n"/><p:cNvSpPr/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${text
    .split('\n')
    .map((line) => `<a:p>${properties}<a:r><a:t>${line}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`;
const title = (text: string) => shape(text, '<p:ph type="title"/>');

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

it('puts the title first, points in a list, and leaves out what stands on every slide', async () => {
  const document = await parseAs(
    'a.pptx',
    pptxOf([
      {
        shapes: `${shape('first point\nsecond point', '<p:ph idx="1"/>')}${title('The plan')}${shape('7', '<p:ph type="sldNum"/>')}${shape('Acme', '<p:ph type="ftr"/>')}`,
      },
      { shapes: title('Hidden'), show: '0' },
      {
        shapes: `${title('Last')}<mc:AlternateContent><mc:Choice>${shape('New way')}</mc:Choice><mc:Fallback>${shape('Old way')}</mc:Fallback></mc:AlternateContent>`,
      },
    ]),
  );
  expect(document.elements.map(({ kind, page, text }) => [kind, page, text])).toEqual([
    ['heading', 1, 'The plan'],
    ['list', 1, '- first point\n- second point'],
    ['heading', 3, 'Last'],
    ['paragraph', 3, 'New way'],
  ]);
  expect(document.warnings).toEqual(['hidden_slide_skipped: 2']);
  expectLawful(document);
});

it('reads tables with merged cells, diagrams, and no notes where they are switched off', async () => {
  const cell = (text: string, attributes = '') =>
    `<a:tc${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const bytes = pptxOf(
    [
      {
        shapes: `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/><a:tr>${cell('a', ' gridSpan="2"')}${cell('', ' hMerge="1"')}</a:tr><a:tr>${cell('b')}${cell('c')}</a:tr><a:tr>${cell('', ' vMerge="1"')}${cell('d')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>
        <p:graphicFrame><a:graphic><a:graphicData><dgm:relIds r:dm="r1"/></a:graphicData></a:graphic></p:graphicFrame>`,
        rels: relationships(['diagramData', '../diagrams/data1.xml'], ['notesSlide', '../notesSlides/n1.xml']),
      },
    ],
    {
      'ppt/diagrams/data1.xml':
        '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Step one</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt/></dgm:ptLst></dgm:dataModel>',
      'ppt/notesSlides/n1.xml': `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${shape('Say it.', '<p:ph type="body"/>')}${shape('1', '<p:ph type="sldNum"/>')}</p:spTree></p:cSld></p:notes>`,
    },
  );
  const document = await parseAs('a.pptx', bytes);
  expect(document.elements.map((element) => element.rows ?? element.text)).toEqual([
    [
      ['a', 'a'],
      ['b', 'c'],
      ['b', 'd'],
    ],
    '- Step one',
    'Say it.',
  ]);
  const silent = await parseAs('a.pptx', bytes, { settings: { pptx: { notes: false } } });
  expect(silent.text).not.toContain('Say it.');
});

it('reads charts as tables, and keeps raised numbers apart', async () => {
  const chart =
    '<c:chartSpace xmlns:c="c"><c:chart><c:plotArea><c:pieChart><c:ser><c:tx><c:v>Share</c:v></c:tx><c:cat><c:strLit><c:pt idx="0"><c:v>tea</c:v></c:pt></c:strLit></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.4</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:pieChart><c:catAx><c:title><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>Drink</c:v></c:pt></c:strCache></c:strRef></c:tx></c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>';
  const shapes =
    '<p:sp><p:txBody><a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r><a:t> cups</a:t></a:r></a:p></p:txBody></p:sp><p:graphicFrame><a:graphic><a:graphicData><c:chart xmlns:c="c" r:id="r1"/></a:graphicData></a:graphic></p:graphicFrame>';
  const bytes = pptxOf([{ shapes, rels: relationships(['chart', '../charts/chart1.xml']) }], { 'ppt/charts/chart1.xml': chart });
  const document = await parseAs('a.pptx', bytes);
  expectLawful(document);
  expect(document.elements.map(({ kind, rows, text, page }) => [kind, rows ?? text, page])).toEqual([
    ['paragraph', '10^6 cups', 1],
    [
      'table',
      [
        ['Drink', 'Share'],
        ['tea', '40%'],
      ],
      1,
    ],
  ]);
});
