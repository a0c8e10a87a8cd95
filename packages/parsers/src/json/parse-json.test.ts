import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';
import { readJson } from './read-json.js';

it('reads files with a byte order mark', async () => {
  expect(JSON.parse((await parseFixture('t_utf8_bom.json')).text)).toEqual({ sku: 'K-9', qty: 3 });
  const lines = await parseFixture('t_utf8_bom.jsonl');
  expect(lines.elements.map((element) => JSON.parse(element.text))).toEqual([{ n: 'first' }, { n: 'second' }, { n: 'third' }]);
});

describe('a description of a service', () => {
  const service = {
    service: 'auth',
    version: 'v2',
    endpoints: [
      { name: 'generate token', method: 'POST', path: '/token', about: 'Generates a token for a client. '.repeat(6) },
      { name: 'revoke token', method: 'DELETE', path: '/token/{id}', about: 'Revokes a token at once. '.repeat(6) },
      { name: 'keys', method: 'GET', path: '/keys', about: 'Lists keys. '.repeat(20) },
    ],
    contact: { mail: 'auth@example.test' },
  };
  it.each([undefined, 2])('gives an element an endpoint, with service and version in its path (indent %s)', async (indent) => {
    const document = await parseAs('a.json', JSON.stringify(service, null, indent));
    expectLawful(document);
    const endpoints = document.elements.filter((element) => element.path?.includes('endpoints'));
    expect(endpoints.map((element) => element.path)).toEqual(
      [0, 1, 2].map((n) => ['service: auth, version: v2', 'endpoints', String(n)]),
    );
    for (const [n, element] of endpoints.entries())
      expect(element.text).toContain(`"name":${indent ? ' ' : ''}"${service.endpoints[n]?.name}"`);
  });
});

it('reads what people write by hand as text, and says so', async () => {
  for (const text of ['{"a": 1,}', "{'a': 1}", '{"a": 1} // comment {', '[1 2]', '{"a": 1 /* [ */}', '{"a": "b" c}', '{a: 1}}']) {
    const document = await parseAs('a.json', text);
    expect(document.text).toBe(text);
    expect(document.warnings).toEqual(['malformed: not valid JSON, read as text']);
    expectLawful(document);
  }
  const lines = await parseAs('a.jsonl', '{"a":1}\nnot json\n\n{"b":2}\n');
  expect(lines.elements.map((element) => element.text)).toEqual(['{"a":1}', 'not json', '{"b":2}']);
  expect(lines.warnings).toEqual(['malformed: 1 of 3 lines are no JSON']);
});

it('calls a file that is cut off corrupt, wherever it is cut', async () => {
  const whole = '{"service": "auth [v2]",\n "ports": [80, {"https": "4\\"43"}],\n "note": "it\'s"}';
  for (let length = 1; length < whole.length; length++)
    for (const end of ['', '\n'])
      await expect(parseAs('a.json', whole.slice(0, length) + end)).rejects.toMatchObject({ code: 'corrupt' });
  expect((await parseAs('a.json', whole)).warnings).toEqual([]);
  await expect(parseAs('a.json', '{\n "a": 1, // one\n "b": [2,\n')).rejects.toThrow('what opens in line 3 is never closed');
});

it('refuses nesting beyond the limit without running out of stack', async () => {
  for (const text of ['['.repeat(100_000), '{"a":'.repeat(100_000)])
    await expect(parseAs('a.json', text)).rejects.toMatchObject({ code: 'limit_exceeded' });
});

it('takes for JSON what JSON.parse takes, with every character in an element', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 2), async (json, indent) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      expect(readJson(text, 0, 200)).toMatchObject({ start: 0, end: text.length });
      const document = await parseAs('a.json', text);
      expectLawful(document);
      expect(document.warnings.filter((warning) => warning.startsWith('malformed'))).toEqual([]);
    }),
  );
  const word = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '1',
    '-0.5e3',
    'true',
    'null',
    ' ',
    '"\\u00e9"',
    "'",
    '01',
    '"\n"',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const text = words.join('');
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      if (readJson(text, 0, 200) !== undefined) expect(valid).toBe(true);
      else if (valid) throw new Error(`not read: ${text}`);
    }),
    { numRuns: 3_000 },
  );
});
