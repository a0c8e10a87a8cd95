import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PDFDocument, PDFName, PDFString, StandardFonts } from 'pdf-lib';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';
import { column, type DrawnText, pdfOf } from '../../test/pdf-files.js';
import { makePdf } from '../bench/make-documents.js';

const read = async (pages: DrawnText[][], options = {}, about = {}) => {
  const document = await parseAs('a.pdf', await pdfOf(pages, about), options);
  expectLawful(document);
  return document;
};
const shape = (document: { elements: { kind: string; level?: number; page?: number; text: string; rows?: string[][] }[] }) =>
  document.elements.map(({ kind, level, page, text, rows }) => [
    level === undefined ? kind : `${kind} ${level}`,
    page,
    rows ?? text,
  ]);

const LOREM = [
  'The kettle stands on the stove and holds about two litres of water when',
  'it is full to the mark, which is more than most people need for their tea.',
  'Fill it with cold water only, since hot water from the tap holds more lime',
  'than cold water does and leaves more scale on the inside of the spout.',
];

it('reads pages without markers, and nothing from a scan', async () => {
  const two = await parseFixture('p_two_pages.pdf');
  expect(shape(two)).toEqual([
    ['paragraph', 1, 'Page one says alpha'],
    ['paragraph', 2, 'Page two says omega'],
  ]);
  expect(await parseFixture('p_scan.pdf')).toMatchObject({ text: '', elements: [] });
});

it('reads CJK text in fonts without maps of their own', async () => {
  expect((await parseFixture('p_cjk_gb.pdf')).text).toBe('质量报告二');
  expect((await parseFixture('p_cjk_gbk.pdf')).text).toBe('质量报告二');
  expect((await parseFixture('p_cjk_sjis.pdf')).text).toBe('品質報告');
});

it('lets no control characters in', async () => {
  const document = await parseFixture('p_nul.pdf');
  expect(document.text).toContain('42 bolts');
  expectLawful(document);
});

it('opens what an owner locked, with a password what a user locked, and repairs a wrong table', async () => {
  expect((await parseFixture('p_locked_owner.pdf')).text).toBe('Open bid is 6160');
  expect((await parseFixture('p_badxref.pdf')).text).toBe('Recovered line 7731');
  await expect(parseFixture('p_locked_user.pdf')).rejects.toMatchObject({ code: 'password_required', kind: 'permanent' });
  await expect(parseFixture('p_locked_user.pdf', { passwords: ['wrong'] })).rejects.toMatchObject({ code: 'password_required' });
  await expect(parseFixture('p_truncated.pdf')).rejects.toMatchObject({ code: 'corrupt', kind: 'permanent' });
  expect(await parseFixture('p_zero.pdf')).toMatchObject({ text: '', elements: [] });
});

it('reads columns one after the other', async () => {
  const document = await parseFixture('p_twocol.pdf');
  const sentences = [
    'Kettle care begins here.',
    'Rinse it every week.',
    'Never use bleach.',
    'Toaster care is simple.',
    'Empty the crumb tray.',
    'Unplug it first.',
  ];
  expect(document.text.replaceAll('\n\n', ' ')).toBe(sentences.join(' '));
  expect(document.text).not.toContain('here. Toaster');
});

it('reads columns under a title that spans them, also when their lines are out of step, and goes on over the gutter', async () => {
  const left = [
    'Kettles were made of copper for',
    'a long time, since copper leads',
    'heat well and does not rust. A',
    'good one lasted for a hundred',
    'years and was mended by the',
  ];
  const right = [
    'tinker who came to the door in',
    'spring. Later ones were made of',
    'iron with a coat of enamel, and',
    'today most of them are of steel',
    'with a handle that stays cool.',
  ];
  const document = await read([
    [
      { text: 'The history of kettles through the ages', x: 150, y: 80, size: 18, bold: true },
      ...column(left, 72, 120),
      ...column(right, 330, 127),
    ],
  ]);
  expect(shape(document)).toEqual([
    ['heading 1', 1, 'The history of kettles through the ages'],
    ['paragraph', 1, [...left, ...right].join(' ')],
  ]);
});

it('reads three columns', async () => {
  const texts = ['one', 'two', 'three'].map((name) =>
    Array.from({ length: 8 }, (_, n) => `Column ${name} has line ${n + 1} of it`),
  );
  const document = await read([texts.flatMap((lines, index) => column(lines, 40 + index * 190, 100, { size: 9 }))]);
  expect(document.text.replaceAll(/\s+/g, ' ')).toBe(texts.flat().join(' '));
});

it('joins broken words, keeps the hyphens that belong to words', async () => {
  const document = await read([
    column(
      [
        'The infor-',
        'mation about well-',
        'known state-of-the-art kettles, this infor-',
        'mation, is in the long-term report. A long-',
        'term plan covers x-',
        'rays and the Anglo-',
        'Saxon cup.',
      ],
      72,
      100,
    ),
  ]);
  expect(document.text).toBe(
    'The information about well-known state-of-the-art kettles, this information, is in the long-term report. A long-term plan covers x-rays and the Anglo-Saxon cup.',
  );
});

it('leaves out what repeats at the edges of pages, and page numbers; keeps it when told to', async () => {
  const pages = Array.from({ length: 5 }, (_, n) => [
    { text: 'The kettle handbook', x: 72, y: 40, size: 9 },
    ...column(
      LOREM.map((line) => `${n + 1}: ${line}`.slice(0, 70)),
      72,
      100,
    ),
    { text: `Page ${n + 1} of 5`, x: 280, y: 760, size: 9 },
  ]);
  const document = await read(pages);
  expect(document.text).not.toMatch(/handbook|Page \d/);
  expect(
    document.elements
      .filter((element) => element.page === 3)
      .map((element) => element.text)
      .join(' '),
  ).toContain('3: The kettle');
  expect((await read(pages, { settings: { pdf: { headers_footers: true } } })).text.match(/The kettle handbook/g)).toHaveLength(
    5,
  );
  const plain = await read(
    Array.from({ length: 3 }, (_, n) => [...column(LOREM, 72, 100), { text: String(n + 7), x: 300, y: 765, size: 9 }]),
  );
  expect(plain.text).not.toMatch(/\b[789]\b/);
});

it('keeps the page of each sentence, and whole a word that a page breaks', async () => {
  const document = await read([
    column(['Page one text. The rule starts here and'], 72, 700),
    column(['runs on to page two where code ZX-81 applies.'], 72, 100),
  ]);
  expect(shape(document)).toEqual([
    ['paragraph', 1, 'Page one text. The rule starts here and'],
    ['paragraph', 2, 'runs on to page two where code ZX-81 applies.'],
  ]);
  expect(document.text).toBe('Page one text. The rule starts here and\nruns on to page two where code ZX-81 applies.');
  const broken = await read([
    column(['All that is known of the infor-'], 72, 700),
    column(['mation is here, and no more than that.'], 72, 100),
  ]);
  expect(broken.text).toBe('All that is known of the information\nis here, and no more than that.');
});

it('tells headings by size and by their font', async () => {
  const document = await read([
    [
      { text: 'Kettles', x: 72, y: 80, size: 22, bold: true },
      { text: '1 Care of the kettle', x: 72, y: 120, size: 15, bold: true },
      ...column(LOREM, 72, 150),
      { text: 'Cleaning', x: 72, y: 230, bold: true },
      ...column(LOREM, 72, 250),
    ],
  ]);
  expect(shape(document).map(([kind]) => kind)).toEqual(['heading 1', 'heading 2', 'paragraph', 'heading 3', 'paragraph']);
});

it('takes the levels of its outline, also for headings that look like text', async () => {
  const bytes = await pdfOf([
    [
      { text: '1.2 Cleaning the spout', x: 72, y: 80 },
      ...column(LOREM, 72, 110),
      { text: 'Care', x: 72, y: 200 },
      ...column(LOREM, 72, 230),
    ],
  ]);
  const file = await PDFDocument.load(bytes);
  const { context } = file;
  const [root, care, spout] = [context.nextRef(), context.nextRef(), context.nextRef()];
  const title = (text: string) => PDFString.of(text);
  context.assign(spout, context.obj({ Title: title('Cleaning the Spout'), Parent: care }));
  context.assign(care, context.obj({ Title: title('Care'), Parent: root, First: spout, Last: spout, Count: 1 }));
  context.assign(root, context.obj({ Type: 'Outlines', First: care, Last: care, Count: 2 }));
  file.catalog.set(PDFName.of('Outlines'), root);
  const document = await parseAs('a.pdf', await file.save());
  expect(shape(document).filter(([kind]) => String(kind).startsWith('heading'))).toEqual([
    ['heading 2', 1, '1.2 Cleaning the spout'],
    ['heading 1', 1, 'Care'],
  ]);
});

it('reads lists, with lines that go on', async () => {
  const document = await read([
    [
      ...column(LOREM, 72, 100),
      ...column(['• Rinse the kettle', '• Dry it with a cloth that is', '• Put it away'], 72, 180, { step: 30 }),
      { text: 'soft and clean', x: 82, y: 224 },
    ],
  ]);
  const list = document.elements.find((element) => element.kind === 'list');
  expect(list?.text).toBe('- Rinse the kettle\n- Dry it with a cloth that is soft and clean\n- Put it away');
  expect(list?.parts?.length).toBe(3);
});

it('reads two narrow columns with lists in them one after the other', async () => {
  const side = (name: string, x: number) => [
    ...column([`${name} begins with a line`, `of text and goes on in`, `the next ones until it ends.`], x, 100, { step: 13 }),
    ...['one thing', 'one more', 'the last'].flatMap((text, n) => [
      { text: `• ${name} has ${text}`, x: x + 18, y: 150 + n * 26 },
      { text: `and says so in two lines`, x: x + 36, y: 163 + n * 26 },
    ]),
  ];
  const document = await read([[...side('Left', 77), ...side('Right', 240)]]);
  const item = (name: string, text: string) => `- ${name} has ${text} and says so in two lines`;
  const block = (name: string) => [
    `${name} begins with a line of text and goes on in the next ones until it ends.`,
    [item(name, 'one thing'), item(name, 'one more'), item(name, 'the last')].join('\n'),
  ];
  expect(document.elements.map((element) => element.text)).toEqual([...block('Left'), ...block('Right')]);
});

it('reads tables as rows, their header too', async () => {
  const rows = [
    ['Bin', 'What it holds', 'Count'],
    ['north', 'copper kettles', '12'],
    ['south', 'spouts', '7'],
    ['east', 'lids and handles', '240'],
    ['west', 'nothing', '0'],
  ];
  const cells = rows.flatMap((row, line) =>
    row.map((text, index) => ({ text, x: [72, 200, 420][index] ?? 0, y: 220 + line * 18, bold: line === 0 })),
  );
  const document = await read([
    [...column(LOREM, 72, 100), { text: 'Table 1: what is in stock', x: 72, y: 195 }, ...cells, ...column(LOREM, 72, 340)],
  ]);
  expect(shape(document).slice(1, 3)).toEqual([
    ['caption', 1, 'Table 1: what is in stock'],
    ['table', 1, rows],
  ]);
});

it('reads rotated text and rotated pages', async () => {
  const turned = await read([[...column(LOREM, 72, 100), { text: 'Seen from the side', x: 560, y: 500, rotate: 90 }]]);
  expect(turned.elements.map((element) => element.text)).toEqual([LOREM.join(' '), 'Seen from the side']);
  const sideways = await read(
    [LOREM.map((text, n) => ({ text, x: 100 + n * 14, y: 700, rotate: 90 }))],
    {},
    { pageRotation: 90 },
  );
  expect(sideways.text).toBe(LOREM.join(' '));
});

it('reads code with its indentation', async () => {
  const code = ['def boil(water):', '    if water > 2:', '        return None', '    return water'];
  const lines = code.map((text, n) => ({
    text: text.trim(),
    x: 72 + (text.length - text.trimStart().length) * 6,
    y: 200 + n * 12,
    size: 10,
    mono: true,
  }));
  const document = await read([[...column(LOREM, 72, 100), ...lines, ...column(LOREM, 72, 300)]]);
  expect(document.elements.find((element) => element.kind === 'code')?.text).toBe(code.join('\n'));
});

it('says what the document says of itself', async () => {
  const document = await read(
    [column(LOREM, 72, 100)],
    {},
    { title: 'Kettles', author: 'Ana', created: new Date(Date.UTC(2024, 4, 1, 10)) },
  );
  expect(document.metadata).toEqual({ doc_title: 'Kettles', author: 'Ana', created_at: '2024-05-01T10:00:00.000Z' });
  expect(document.lang).toBe('en');
});

it('refuses fonts whose widths would fill the memory', async () => {
  const pdf = Buffer.from(makePdf(1)).toString('latin1');
  const font =
    '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /W [0 [500 600] 3 2147483647 500] >>] >>';
  const damaged = pdf.replace('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>', font);
  await expect(parseAs('a.pdf', new Uint8Array(Buffer.from(damaged, 'latin1')))).rejects.toMatchObject({ code: 'corrupt' });
  const ordinary = pdf.replace('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>', font.replace('2147483647', '9'));
  expect((await parseAs('a.pdf', new Uint8Array(Buffer.from(ordinary, 'latin1')))).format).toBe('pdf');
});

it('does not end the process over a promise that its reader leaves behind', () => {
  // While pdf.js repairs this file (a reference of the wrong generation) it rejects a promise that nobody waits for.
  const script = `const { createParserRegistry, defaultParseLimits: limits } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
    const bytes = new Uint8Array(await (await import('node:fs/promises')).readFile(process.argv[1]));
    console.log((await createParserRegistry().parse({ name: 'a.pdf', bytes, limits })).format);`;
  const path = fileURLToPath(new URL('../../test/fixtures/p_stray.pdf', import.meta.url));
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(answer.toString()).toBe('pdf\n');
});

describe('scanned pages', () => {
  const ocr = { settings: { pdf: { ocr: true } } };
  const withProgram = async (script: string, run: () => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-ocr-'));
    await writeFile(join(folder, 'tesseract'), script);
    await chmod(join(folder, 'tesseract'), 0o755);
    const before = process.env.PATH;
    process.env.PATH = `${folder}:${before}`;
    try {
      await run();
    } finally {
      process.env.PATH = before;
      await rm(folder, { recursive: true });
    }
  };

  it('are read by tesseract where the user asks for it', async () => {
    // Stands for the real program: answers only to a PNG on its standard input and the arguments it takes.
    const script =
      '#!/bin/sh\n[ "$*" = "stdin stdout -l eng" ] || exit 1\nhead -c 4 | grep -q PNG || exit 1\ncat > /dev/null\nprintf "Read from the\\npicture.\\n\\nSecond paragraph.\\n\\f"\n';
    await withProgram(script, async () => {
      const document = await parseFixture('p_scan.pdf', ocr);
      expect(document.elements.map((element) => [element.page, element.text])).toEqual([
        [1, 'Read from the picture.'],
        [1, 'Second paragraph.'],
      ]);
      expect((await parseFixture('p_two_pages.pdf', ocr)).text).not.toContain('picture');
    });
  });

  it('are empty, with a warning, where it fails', async () => {
    await withProgram('#!/bin/sh\nexit 1\n', async () => {
      const document = await parseFixture('p_scan.pdf', ocr);
      expect(document).toMatchObject({ text: '', elements: [] });
      expect(document.warnings[0]).toMatch(/^ocr_unavailable/);
    });
  });
});

/** Letters one by one, each `times` times a little apart, at these advances. */
const letters = (
  text: string,
  { x = 72, y = 100, size = 14, times = 1, gap = 0 }: { x?: number; y?: number; size?: number; times?: number; gap?: number },
): DrawnText[] => {
  let at = x;
  return [...text].flatMap((letter) => {
    const start = at;
    at += letter === ' ' ? size * 0.3 + gap : size * (letter === 'I' ? 0.28 : letter === 'M' ? 0.83 : 0.7) + gap;
    return letter === ' '
      ? []
      : Array.from({ length: times }, (_, index) => ({ text: letter, x: start + index * 0.35, y, size }));
  });
};

it('reads text that was drawn twice once, by line and by letter, and keeps real repeats', async () => {
  const document = await read([
    [
      { text: 'Safety valve 7731', x: 72, y: 60, size: 14 },
      { text: 'Safety valve 7731', x: 72.4, y: 60, size: 14 },
      ...letters('TORQUE', { times: 2 }),
      { text: 'Knock knock, the code is 1122.', x: 72, y: 140 },
      { text: 'AA BB 44', x: 72, y: 200 },
    ],
  ]);
  expect(document.text.match(/Safety valve 7731/g)).toHaveLength(1);
  for (const text of ['TORQUE', 'Knock knock, the code is 1122.', 'AA BB 44']) expect(document.text).toContain(text);
  expect(document.text).not.toContain('TT');
});

it('joins letters that are set apart for looks', async () => {
  const document = await read([[...letters('NOTICE', { gap: 5 }), { text: 'Plain words go on here below it.', x: 72, y: 160 }]]);
  expect(document.text).toContain('NOTICE');
});

it('keeps raised numbers apart from the digits before them', async () => {
  const raise = (text: string, mark: string, rest: string, y: number): DrawnText[] => {
    const width = text.length * 5.2;
    return [
      { text, x: 72, y },
      { text: mark, x: 72 + width, y: y - 5, size: 7 },
      { text: rest, x: 72 + width + 5, y },
    ];
  };
  const document = await read([
    [...raise('1010101010', '6', 'litres in all', 100), { text: 'A second line with plain words.', x: 72, y: 130 }],
  ]);
  expect(document.text).toContain('1010101010^6 litres in all');
});

it('keeps pages of one line each', async () => {
  const document = await read([1, 2, 3, 4].map((n) => [{ text: `Slide ${n} of the talk`, x: 72, y: 50 }]));
  expect(document.elements.map(({ page, text }) => [page, text])).toEqual([1, 2, 3, 4].map((n) => [n, `Slide ${n} of the talk`]));
});

it('lets a watermark disturb no line', async () => {
  const lines = column(LOREM, 72, 300);
  const document = await read([[...lines, { text: 'DRAFT', x: 100, y: 330, size: 150 }]]);
  expect(document.text.replace(/\s+/g, ' ')).toContain(LOREM.join(' '));
});

it('reads what was typed onto a page, also where nothing else stands', async () => {
  const file = await PDFDocument.create();
  const font = await file.embedFont(StandardFonts.Helvetica);
  for (const text of ['Printed words.', undefined]) {
    const page = file.addPage([300, 300]);
    if (text !== undefined) page.drawText(text, { x: 20, y: 200, size: 11, font });
    const note = file.context.register(
      file.context.obj({
        Type: 'Annot',
        Subtype: 'FreeText',
        Rect: [20, 20, 200, 60],
        Contents: PDFString.of(`Typed remark ${text === undefined ? 'two' : 'one'}.`),
        DA: PDFString.of('/Helv 11 Tf'),
      }),
    );
    page.node.set(PDFName.of('Annots'), file.context.obj([note]));
  }
  const document = await parseAs('a.pdf', await file.save());
  expectLawful(document);
  expect(document.elements.map(({ page, text }) => [page, text])).toEqual([
    [1, 'Printed words.'],
    [1, 'Typed remark one.'],
    [2, 'Typed remark two.'],
  ]);
});

it('says when glyphs have no characters', async () => {
  expect((await parseFixture('p_nul.pdf')).warnings).toEqual([expect.stringMatching(/^glyphs_unmapped: \d+$/)]);
  expect((await parseFixture('p_two_pages.pdf')).warnings).toEqual([]);
});
