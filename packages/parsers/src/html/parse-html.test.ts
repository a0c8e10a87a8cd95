import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const read = async (html: string, options = {}) => {
  const document = await parseAs('a.html', html, options);
  expectLawful(document);
  return document;
};
const shape = async (html: string, options = {}) =>
  (await read(html, options)).elements.map(({ kind, level, rows, text }) => [
    level === undefined ? kind : `${kind} ${level}`,
    rows ?? text,
  ]);

it('reads blocks with their kinds, entities decoded, and nothing of scripts, styles and pictures', async () => {
  const html = `<!doctype html><html lang="en-GB"><head><title>The kettle</title><style>p{color:red}</style><script>var x = "hidden";</script>
    <meta name="author" content="Ana"><meta name="keywords" content="a, b"></head><body>
    <h1>Kettle &amp; care</h1><p>Caf&eacute; &#8211; one<br>two <b>bold</b><em>er</em>.<img src="data:image/png;base64,AAAA" alt="x"></p>
    <pre><code class="language-sh">boil --now\n  twice</code></pre><blockquote><p>Said so.</p></blockquote>
    <figure><img src="a.png"><figcaption>Figure 1: it</figcaption></figure><dl><dt>Lid</dt><dd>On top</dd></dl>
    <p hidden>no</p><div style="display: none">no</div><template>no</template><noscript>no</noscript><svg><text>no</text></svg></body></html>`;
  expect(await shape(html)).toEqual([
    ['heading 1', 'Kettle & care'],
    ['paragraph', 'Café – one\ntwo bolder.'],
    ['code', 'boil --now\n  twice'],
    ['quote', 'Said so.'],
    ['caption', 'Figure 1: it'],
    ['list', '- Lid: On top'],
  ]);
  const document = await read(html);
  expect(document.metadata).toEqual({ doc_title: 'The kettle', author: 'Ana', tags: ['a', 'b'] });
  expect(document.lang).toBe('en');
  expect(document.elements.find((element) => element.kind === 'code')?.lang).toBe('sh');
});

it('reads lists within lists, and lists with more than text in them', async () => {
  expect(await shape('<ul><li>one<ol start="3"><li>inner<li>more</ol><li><p>two</p></ul>')).toEqual([
    ['list', '- one\n  3. inner\n  4. more\n- two'],
  ]);
  expect(await shape('<ul><li>one<pre>x\n y</pre></li><li>two</li></ul>')).toEqual([
    ['paragraph', 'one'],
    ['code', 'x\n y'],
    ['paragraph', 'two'],
  ]);
});

it('reads tables with spans and header rows, and places of layout tables one by one', async () => {
  const table =
    '<table><caption>Table 1: bins</caption><thead><tr><th>a<th colspan=2>b</tr></thead><tr><td rowspan=2>x</td><td>1</td><td>2 | 3</td></tr><tr><td>4</td><td>5</td></tr></table>';
  expect(await shape(table)).toEqual([
    ['caption', 'Table 1: bins'],
    [
      'table',
      [
        ['a', 'b', 'b'],
        ['x', '1', '2 | 3'],
        ['x', '4', '5'],
      ],
    ],
  ]);
  expect(
    await shape(
      '<table><tr><td>menu</td><td><h2>Title</h2><p>Text.</p><table><tr><td>k</td><td>v</td></tr></table></td></tr></table>',
    ),
  ).toEqual([
    ['paragraph', 'menu'],
    ['heading 2', 'Title'],
    ['paragraph', 'Text.'],
    ['table', [['k', 'v']]],
  ]);
  expect(
    (await read('<table><tr><td colspan=99999999 rowspan=99999999>x</td><td>y</td></tr><tr><td>z</td></tr></table>')).text.length,
  ).toBeLessThan(100_000);
});

const page = `<body><header><nav><a href=1>Home</a> <a href=2>About</a></nav><h1>Care</h1></header><div class="sidebar"><a href=3>Other page</a></div>
  <main><p>${'Rinse the kettle each week. '.repeat(10)}</p><nav>In this page</nav></main><aside>Advert</aside><footer>© Acme</footer></body>`;

it('leaves out navigation, side bars and footers, unless told to keep them', async () => {
  const main = await read(page);
  expect(main.text).toContain('Rinse the kettle');
  expect(main.text).not.toMatch(/Home|Other page|Advert|Acme|In this page/);
  const whole = await read(page, { settings: { html: { main_content: false } } });
  expect(whole.text).toMatch(/Home[\s\S]*Other page[\s\S]*Rinse[\s\S]*Advert[\s\S]*Acme/);
});

it('keeps what would leave nothing, and the title in a header', async () => {
  expect((await read('<body><nav><a href=1>All there is on this page of links</a></nav></body>')).text).toContain('All there is');
  const article = `<body><header><h1>Care</h1><a href=1>Log in</a></header><div><p>${'Rinse it. '.repeat(30)}</p></div><footer>© Acme</footer></body>`;
  expect((await shape(article))[0]).toEqual(['heading 1', 'Care']);
});

it('decodes what the page declares, UTF-8 first', async () => {
  const legacy = Buffer.from('<meta charset="windows-1250"><p>\x8akoda</p>', 'latin1');
  expect((await parseAs('a.html', new Uint8Array(legacy))).text).toBe('Škoda');
  expect((await parseAs('a.html', '<meta charset="iso-8859-1"><p>Škoda</p>')).text).toBe('Škoda');
});

it('hangs up what nests too deep, and keeps its laws on any tags', async () => {
  const deep = await read(`${'<div>'.repeat(10_000)}deep${'</div>'.repeat(10_000)}`);
  expect(deep.text).toBe('deep');
  await expect(parseAs('a.html', '<div>'.repeat(100_000))).rejects.toMatchObject({ code: 'limit_exceeded' });
  const word = fc.constantFrom(
    '<p>',
    '</p>',
    '<table>',
    '<tr>',
    '<td colspan=3>',
    '<td rowspan=4>',
    '</table>',
    '<ul>',
    '<li>',
    '</ul>',
    '<pre>',
    '</pre>',
    '<h2>',
    '</h2>',
    'text',
    ' ',
    '\n',
    '&lt;',
    '&#0;',
    '&#xD800;',
    '<b>',
    '</b>',
    '<br>',
    '<dl><dt>',
    '<dd>',
    '<blockquote>',
    '</blockquote>',
    '<nav>',
    '</nav>',
    '<!--',
    '-->',
    '<script>',
    '</script>',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 50 }), async (words) => {
      await read(words.join(''));
    }),
    { numRuns: 300 },
  );
});

it('keeps every cell of a table whose spans go on for ever', async () => {
  const rows = Array.from(
    { length: 2_000 },
    (_, n) => `<tr><td colspan="1000" rowspan="1000">cell ${n}.</td><td>more ${n}.</td></tr>`,
  );
  const document = await parseAs('a.html', `<table><tr><th>a</th></tr>${rows.join('')}</table>`);
  const cells = new Set(document.elements[0]?.rows?.flat());
  expect(rows.every((_, n) => cells.has(`cell ${n}.`) && cells.has(`more ${n}.`))).toBe(true);
  expect(document.elements[0]?.rows?.flat().length).toBeLessThan(1_000_000);
  expectLawful(document);
});

it('keeps the title of a page whose main content has none, and the numbers that items are given', async () => {
  const page = (header: string, main: string) =>
    `<body><header><p>Shop</p>${header}</header><main>${main}</main><header><h1>Below</h1></header></body>`;
  const text = '<p>Enough words to be believed.</p>';
  expect(await shape(page('<h1>Kettles</h1>', text))).toEqual([
    ['heading 1', 'Kettles'],
    ['paragraph', 'Enough words to be believed.'],
  ]);
  expect((await shape(page('<h1>Shop</h1>', `<h1>Kettles</h1>${text}`)))[0]).toEqual(['heading 1', 'Kettles']);
  expect(await shape(`<header><main>${text}</main></header>`)).toEqual([['paragraph', 'Enough words to be believed.']]);
  expect(await shape('<ol start="3"><li>a</li><li value="7">b</li><li value="x">c</li></ol>')).toEqual([
    ['list', '3. a\n7. b\n8. c'],
  ]);
});

it.each([
  ['<h2>un<b>break</b>able</h2>', 'unbreakable'],
  ['<table><caption>H<sub>2</sub>O</caption><tr><th>a</th></tr></table>', 'H2O'],
  [
    '<table><tr><th>H<sub>2</sub>O</th><th><p>one</p><p>two</p></th></tr><tr><td>1</td><td>2</td></tr></table>',
    '| H2O | one two |',
  ],
  ['<dl><dt>un<i>do</i></dt><dd>re<i>do</i></dd></dl>', '- undo: redo'],
])('puts no space at the inline tags of %s', async (html, text) => {
  expect((await read(`<html><body>${html}</body></html>`)).text).toContain(text);
});

it.each([
  ['10<sup>6</sup> litres', '10^6 litres'],
  ['45<sup><a href="#n3">3</a></sup> crowns', '45[3] crowns'],
  ['30 m<sup>2</sup>, CO<sub>2</sub>', '30 m², CO2'],
  ['studies<sup>2,3</sup> show', 'studies[2,3] show'],
  ['1<sup>st</sup>, M<sup>me</sup>, Ca<sup>2+</sup>', '1st, Mme, Ca2+'],
  ['x<sup>n</sup>, 2<sup>n+1</sup>, (a+b)<sup>2</sup>, 10<sup>−3</sup>', 'x^n, 2^(n+1), (a+b)^2, 10^−3'],
  ['log<sub>10</sub>, 101<sub>2</sub>', 'log10, 101_2'],
])('sets raised and lowered text down without changing its meaning: %s', async (source, text) => {
  expect((await parseAs('a.html', `<!doctype html><p>${source}</p>`)).text).toBe(text);
  expect((await parseAs('a.html', `<!doctype html><h2>${source}</h2>`)).text).toBe(text);
});

it('reads titles and panels of accordions and tabs, not other buttons', async () => {
  const page = `<!doctype html><main><button>Print</button><h2><button aria-controls="c1">Where is the fuse?</button></h2><div id="c1" hidden>Under the plate.</div>
    <h3><button>Bare toggle</button></h3><ul role="tablist"><li role="tab">One</li></ul><div role="tabpanel" hidden><p>First panel.</p></div>
    <button aria-controls="m1">Menu</button><div id="m1" role="menu" hidden>Log out</div><div hidden>Draft</div></main>`;
  const { text } = await parseAs('a.html', page);
  for (const words of ['Where is the fuse?', 'Under the plate.', 'Bare toggle', 'First panel.']) expect(text).toContain(words);
  for (const words of ['Print', 'Log out', 'Draft']) expect(text).not.toContain(words);
});

it('knows tables of data that hold headings, code or tables from those of layout', async () => {
  const kinds = async (table: string) =>
    (await parseAs('a.html', `<!doctype html>${table}`)).elements.map(({ kind, rows }) => rows ?? kind);
  expect(await kinds('<table><tr><td><h3>A</h3><td>5<tr><td><h3>B</h3><td>6</table>')).toEqual([
    [
      ['A', '5'],
      ['B', '6'],
    ],
  ]);
  expect(await kinds('<table><tr><th>h<th>g<tr><td><pre>x</pre><td>v</table>')).toEqual([
    [
      ['h', 'g'],
      ['x', 'v'],
    ],
  ]);
  expect(await kinds('<table><tr><td>k<td><table><tr><td>a<td>b</table><tr><td>z<td>y</table>')).toEqual([
    [
      ['k', 'a b'],
      ['z', 'y'],
    ],
  ]);
  expect(await kinds(`<table><tr><td><h1>Title</h1><p>${'long text '.repeat(40)}<td>side</table>`)).toEqual([
    'heading',
    'paragraph',
    'paragraph',
  ]);
  expect(await kinds('<table><tr><td>Above<tr><td><table><tr><th>S<th>D<tr><td>1<td>2</table></table>')).toEqual([
    'paragraph',
    [
      ['S', 'D'],
      ['1', '2'],
    ],
  ]);
});
