import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const shape = async (name: string, text: string) => {
  const document = await parseAs(name, text);
  expectLawful(document);
  expect(document.text).toBe(text);
  return document.elements.map(({ kind, level, title, lang, rows, headerRows, text: own }) =>
    kind === 'heading'
      ? [`heading ${level}`, title]
      : kind === 'table'
        ? [`table ${headerRows}`, rows]
        : [lang === undefined ? kind : `${kind} ${lang}`, own],
  );
};

describe('reStructuredText', () => {
  it('has headings by their marks, code, tables and lists', async () => {
    const source = `=====
Care
=====

Daily
-----

Fill the kettle. A rule follows::

    code  here

    more

Back.

.. code-block:: python
   :linenos:

   x = 1

- one
- two

+------+-------+
| name | count |
+======+=======+
| a    | 1     |
| b    |       |
+------+-------+

====  =====
key   note
====  =====
k0    first
k1    second
====  =====

Weekly
------

.. math::

   a = b.

End.
`;
    expect(await shape('a.rst', source)).toEqual([
      ['heading 1', 'Care'],
      ['heading 2', 'Daily'],
      ['paragraph', 'Fill the kettle. A rule follows::'],
      ['code', '    code  here\n\n    more'],
      ['paragraph', 'Back.'],
      ['code python', '.. code-block:: python\n   :linenos:\n\n   x = 1'],
      ['list', '- one\n- two'],
      [
        'table 1',
        [
          ['name', 'count'],
          ['a b', '1'],
        ],
      ],
      [
        'table 1',
        [
          ['key', 'note'],
          ['k0', 'first'],
          ['k1', 'second'],
        ],
      ],
      ['heading 2', 'Weekly'],
      ['formula', '.. math::\n\n   a = b.'],
      ['paragraph', 'End.'],
    ]);
    expect((await parseAs('a.rst', source)).metadata).toEqual({ doc_title: 'Care' });
  });
});

describe('Org', () => {
  it('has headings by stars, blocks and tables', async () => {
    const source = `#+TITLE: Kettles
* TODO [#A] Care :home:
Fill it.
** Daily
#+begin_src sh
* no heading
#+end_src
| name | count |
|------+-------|
| a    | 1     |

- one
- two
#+begin_quote
Said so.
#+end_quote
`;
    expect(await shape('a.org', source)).toEqual([
      ['paragraph', '#+TITLE: Kettles'],
      ['heading 1', 'Care'],
      ['paragraph', 'Fill it.'],
      ['heading 2', 'Daily'],
      ['code sh', '#+begin_src sh\n* no heading\n#+end_src'],
      [
        'table 1',
        [
          ['name', 'count'],
          ['a', '1'],
        ],
      ],
      ['list', '- one\n- two'],
      ['quote', '#+begin_quote\nSaid so.\n#+end_quote'],
    ]);
    expect((await parseAs('a.org', source)).metadata).toEqual({ doc_title: 'Kettles' });
  });
});

describe('AsciiDoc', () => {
  it('has headings by signs, blocks and tables', async () => {
    const source = `= Kettles

== Care

Fill it.

[source,ruby]
----
== no heading

x = 1
----

[cols="1,1",options="header"]
|===
|name |count
|a |1
|===

* one
* two

....
literal
....
`;
    expect(await shape('a.adoc', source)).toEqual([
      ['heading 1', 'Kettles'],
      ['heading 2', 'Care'],
      ['paragraph', 'Fill it.'],
      ['code ruby', '[source,ruby]\n----\n== no heading\n\nx = 1\n----'],
      [
        'table 1',
        [
          ['name', 'count'],
          ['a', '1'],
        ],
      ],
      ['list', '* one\n* two'],
      ['code', '....\nliteral\n....'],
    ]);
  });
});

it('keeps its laws on any lines', async () => {
  const line = fc.constantFrom(
    '',
    'Title',
    '=====',
    '-----',
    '  indented',
    '* star',
    '** two',
    '= one',
    '== two',
    '----',
    '....',
    '|===',
    '|a |b',
    '+--+--+',
    '| a|b |',
    '+==+==+',
    '== ==',
    'k  v',
    '.. code::',
    'x::',
    '#+begin_src',
    '#+end_src',
    '#+begin_quote',
    '[source,x]',
    '- item',
    '\u0000\t',
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('a.rst', 'a.org', 'a.adoc'), fc.array(line, { maxLength: 25 }), async (name, lines) => {
      expectLawful(await parseAs(name, lines.join('\n')));
    }),
    { numRuns: 300 },
  );
});
