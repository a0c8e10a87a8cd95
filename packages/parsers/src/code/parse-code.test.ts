import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const filler = '        total = total + 1  # and so on, line after line of it\n'.repeat(12);

const sources: Record<string, { text: string; firstLines: string[]; contexts?: Record<string, string[]> }> = {
  'kettle.py': {
    text: `import os\nimport sys\n\nLIMIT = 3\n\n# About boiling.\n@cached\ndef boil(water):\n    """Boils."""\n    return water\n\n\nclass Kettle(Base):\n    """Holds water."""\n\n    size = 1\n\n    # Fills it.\n    def fill(self, amount):\n        total = 0\n${filler}        return total\n\n    async def empty(self):\n        pass\n`,
    firstLines: ['import os', '# About boiling.', 'class Kettle(Base):', '    # Fills it.', '    async def empty(self):'],
    contexts: {
      '    async def empty(self):': ['class Kettle(Base)'],
      '    # Fills it.': ['class Kettle(Base)', 'def fill(self, amount)'],
    },
  },
  'kettle.ts': {
    text: `import a from 'b';\n\n/** Boils. */\nexport function boil(): void {}\n\nexport class Kettle extends Base {\n  size = 1;\n\n  /** Fills it. */\n  fill(amount: number): void {\n${'    this.total += amount;\n'.repeat(30)}  }\n\n  private empty(): void {}\n}\n\nexport const pour = async (x: number) => {\n  return x;\n};\n`,
    firstLines: [
      "import a from 'b';",
      '/** Boils. */',
      'export class Kettle extends Base {',
      '  /** Fills it. */',
      '  private empty(): void {}',
      'export const pour = async (x: number) => {',
    ],
    contexts: { '  private empty(): void {}': ['class Kettle extends Base'] },
  },
  'kettle.go': {
    text: 'package kettle\n\nimport "fmt"\n\n// Boil boils.\nfunc Boil(a int) int { return 1 }\n\nfunc (k *Kettle) Fill() {}\n\ntype Kettle struct{ a int }\n',
    firstLines: ['package kettle', '// Boil boils.', 'func (k *Kettle) Fill() {}', 'type Kettle struct{ a int }'],
  },
  'kettle.rs': {
    text: `use a;\n\n/// A kettle.\n#[derive(Debug)]\npub struct Kettle { a: i32 }\n\nimpl Kettle {\n    /// Fills it.\n    pub fn fill(&self) -> i32 {\n${'        step();\n'.repeat(40)}        1\n    }\n\n    fn empty(&self) {}\n}\n`,
    firstLines: ['use a;', '/// A kettle.', 'impl Kettle {', '    /// Fills it.', '    fn empty(&self) {}'],
    contexts: { '    fn empty(&self) {}': ['impl Kettle'] },
  },
  'Kettle.java': {
    text: `package k;\n\nimport x;\n\n/** A kettle. */\npublic class Kettle extends Base {\n    int a;\n\n    /** Fills it. */\n    public void fill(int x) {\n${'        step();\n'.repeat(40)}    }\n\n    void empty() {}\n}\n`,
    firstLines: ['package k;', '/** A kettle. */', '    /** Fills it. */', '    void empty() {}'],
    contexts: { '    void empty() {}': ['public class Kettle extends Base'] },
  },
  'kettle.c': {
    text: '#include <stdio.h>\n\n/* Boils. */\nstatic int boil(int a) { return 1; }\n\nstruct kettle { int a; };\n\nint main(void) { return boil(1); }\n',
    firstLines: ['#include <stdio.h>', '/* Boils. */', 'struct kettle { int a; };', 'int main(void) { return boil(1); }'],
  },
  'kettle.cpp': {
    text: `#include <x>\n\nnamespace kitchen {\n\n// Holds water.\nclass Kettle {\npublic:\n  void fill() {\n${'    step();\n'.repeat(60)}  }\n  void empty() {}\n};\n\n}\n\nvoid Kettle::pour() {}\n`,
    firstLines: [
      '#include <x>',
      'namespace kitchen {',
      '// Holds water.',
      '  void fill() {',
      '  void empty() {}',
      'void Kettle::pour() {}',
    ],
    contexts: { '  void empty() {}': ['namespace kitchen', 'class Kettle'] },
  },
  'kettle.sh': {
    text: '#!/bin/bash\nset -e\n\n# Boils.\nboil() {\n  echo\n}\n\nboil\n',
    firstLines: ['#!/bin/bash', '# Boils.', 'boil'],
  },
};

describe('parts source code at declarations, comments with what they are about', () => {
  it.each(Object.entries(sources))('%s', async (name, { text, firstLines, contexts }) => {
    const document = await parseAs(name, text);
    expect(document.text).toBe(text);
    expect(document.elements.map((element) => element.text.split('\n')[0])).toEqual(firstLines);
    for (const [line, context] of Object.entries(contexts ?? {}))
      expect(document.elements.find((element) => element.text.startsWith(line))?.context).toEqual(context);
    expectLawful(document);
  });
});

it('reads code that is broken, or in a language without grammar', async () => {
  for (const [name, { text }] of Object.entries(sources)) {
    for (let cut = 1; cut < 8; cut++) expectLawful(await parseAs(name, text.slice(0, (text.length * cut) / 8)));
    expectLawful(await parseAs(name, text.replaceAll(/[{}()]/g, '')));
  }
  const lua = await parseAs('a.lua', 'local x = 1\n\n  function f()\n    return x\n  end\n');
  expect(lua.elements.map((element) => element.text)).toEqual(['local x = 1', '  function f()\n    return x\n  end']);
});

it('keeps its laws on any text', async () => {
  const word = fc.constantFrom(
    'class A {',
    '}',
    'def f():',
    '\n',
    '\n\n',
    '    ',
    '// c',
    '# c',
    '/*',
    '*/',
    '"',
    'x = 1',
    'fn f() {',
    '@d',
    '😀',
    '`',
    ';',
    'export ',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 40 }), fc.constantFrom(...Object.keys(sources)), async (words, name) => {
      expectLawful(await parseAs(name, words.join('')));
    }),
    { numRuns: 300 },
  );
});
