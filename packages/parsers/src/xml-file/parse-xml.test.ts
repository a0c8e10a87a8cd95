import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const parts = async (text: string) => {
  const document = await parseAs('a.xml', text);
  expectLawful(document);
  expect(document.format).toBe('xml');
  expect(document.text).toBe(text);
  return document.elements.map(({ text: own, path }) => [(path ?? []).join(' > '), own.split('\n')[0]]);
};

describe('XML', () => {
  it('has an element for each record, with the names and short members around it', async () => {
    const item = (n: number) =>
      `<item id="p${n}">\n  <name>Pump ${n}</name>\n  <note>Open valve ${n} &amp; wait for the gauge.</note>\n</item>\n`;
    const text = `<?xml version="1.0"?>\n<store>\n<title>Pumps &lt;all&gt;</title>\n<city>Bergen</city>\n<items>\n${Array.from({ length: 12 }, (_, n) => item(n)).join('')}</items>\n</store>\n`;
    const found = await parts(text);
    expect(found[0]).toEqual(['store > title: Pumps <all>, city: Bergen', '<?xml version="1.0"?>']);
    expect(found.filter(([, line]) => line?.startsWith('<item '))).toHaveLength(11);
    expect(found.at(-1)).toEqual(['store > title: Pumps <all>, city: Bergen > items > item', '<item id="p11">']);
    expect((await parseAs('a.xml', text)).metadata).toEqual({ doc_title: 'Pumps <all>' });
  });

  it('names attributes in the path of what lies below', async () => {
    const rule = (n: number) =>
      `<rule n="${n}"><when>pressure over ${n} bar in the vessel</when><then>close the valve</then></rule>\n`;
    const text = `<plan site="north" xmlns:x="urn:x">\n<rules>${Array.from({ length: 15 }, (_, n) => rule(n)).join('')}</rules>\n</plan>`;
    expect((await parts(text)).at(-1)?.[0]).toBe('plan > site: north > rules > rule');
  });

  it('keeps prose with marks in it whole, and expands no entity', async () => {
    const para = `<para>Turn the <emphasis>red</emphasis> valve &e; twice. ${'It is stiff. '.repeat(70)}</para>`;
    const text = `<!DOCTYPE book [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<book>${para}\n${para}</book>`;
    const document = await parseAs('a.xml', text);
    expectLawful(document);
    expect(document.elements.map(({ text: own }) => own.includes('<para>'))).toEqual([true, true]);
  });

  it('decodes what the declaration says', async () => {
    const bytes = Buffer.from('<?xml version="1.0" encoding="windows-1252"?><a>\u0093caf\u00e9\u0094 \u0080</a>', 'latin1');
    expect((await parseAs('a.xml', new Uint8Array(bytes))).text).toContain('“café” €');
  });

  it('keeps its laws on any marks', async () => {
    const bit = fc.constantFrom(
      '<a>',
      '</a>',
      '<b c="d">',
      '</b>',
      '<e/>',
      'text',
      '<',
      '>',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?x',
      '?>',
      '&',
      '"',
      `<r>${'v'.repeat(250)}</r>`,
      '\n',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(bit, { maxLength: 60 }), async (bits) => {
        expectLawful(await parseAs('a.xml', bits.join('')));
      }),
      { numRuns: 300 },
    );
  });

  it('is linear in what is deep, unclosed or wide', async () => {
    for (const text of [
      '<a>'.repeat(50_000),
      `${'<a>'.repeat(50_000)}${'</a>'.repeat(50_000)}`,
      '<'.repeat(200_000),
      '<!--'.repeat(50_000),
      '<a b="'.repeat(30_000),
      '<a/>'.repeat(100_000),
      `<p>${'<i>x</i>'.repeat(50_000)}</p>`,
    ])
      expectLawful(await parseAs('a.xml', text));
  });
});
