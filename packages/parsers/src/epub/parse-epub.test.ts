import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';
import { makeEpub } from '../bench/make-open-formats.js';

it('reads chapters in the order of the spine, with what the book says of itself', async () => {
  const document = await parseAs(
    'a.epub',
    makeEpub([
      '<h1>First</h1><p>Fill the kettle.<br/>Wait.</p>',
      '<h1>Second</h1><ul><li>one</li></ul><p>10<sup>6</sup>&nbsp;cups</p>',
    ]),
  );
  expectLawful(document);
  expect(document.elements.map(({ kind, text }) => [kind, text])).toEqual([
    ['heading', 'First'],
    ['paragraph', 'Fill the kettle.\nWait.'],
    ['heading', 'Second'],
    ['list', '- one'],
    ['paragraph', '10^6\u00a0cups'],
  ]);
  expect(document).toMatchObject({
    lang: 'en',
    metadata: { doc_title: 'Kettles', author: 'Ida', created_at: '2024-05-01' },
    warnings: [],
  });
  expect((await parseAs('a.zip', makeEpub(['<p>x</p>']))).format).toBe('epub');
});

it('says what is missing, damaged or locked', async () => {
  const book = makeEpub(['<p>one</p>'], { 'OEBPS/text/c1.xhtml': '' });
  expect((await parseAs('a.epub', book)).text).toBe('');
  await expect(parseAs('a.epub', makeEpub(['<p>one</p>']).slice(0, 300))).rejects.toMatchObject({ code: 'corrupt' });
  await expect(parseAs('a.epub', makeEpub([], { 'META-INF/container.xml': '<container/>' }))).rejects.toMatchObject({
    code: 'corrupt',
  });
  const locked =
    '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text/c1.xhtml"/></CipherData></EncryptedData></encryption>';
  await expect(parseAs('a.epub', makeEpub(['<p>one</p>'], { 'META-INF/encryption.xml': locked }))).rejects.toMatchObject({
    code: 'password_required',
  });
});
