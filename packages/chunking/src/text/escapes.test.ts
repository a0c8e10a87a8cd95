import { expect, it } from 'vitest';
import { withoutEscapes } from './escapes.js';

it.each([
  ['json', '{"title": "\\u8d28\\u91cf", "tag": "caf\\u00e9"}', '{"title": "质量", "tag": "café"}'],
  ['json', '"first\\nsecond\\tthird \\"x\\" a\\/b"', '"first\nsecond third "x" a/b"'],
  ['json', '"C:\\\\temp\\\\newlamp \\\\u8d28"', '"C:\\temp\\newlamp \\u8d28"'],
  ['json', '"\\ud83d\\ude00 \\ud83d x \\u0000"', '"😀 \\ud83d x \\u0000"'],
  ['javascript', 'const a = "\\u041a\\n\\\\u041a";', 'const a = "К\\n\\\\u041a";'],
  [
    'xml',
    '<a t="x &amp; y">caf&#233; &#x4E0A; &lt;b&gt; &nbsp; &#0; &#55357;</a>',
    '<a t="x & y">café 上 <b> &nbsp; &#0; &#55357;</a>',
  ],
  [undefined, 'a \\u041a b', 'a \\u041a b'],
])('of %s: %s', (language, text, decoded) => {
  expect(withoutEscapes(text, language)).toBe(decoded);
});
