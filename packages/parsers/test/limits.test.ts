import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { writeZip } from '../src/bench/zip-writer.js';
import { defaultParseLimits as limits } from '../src/settings.js';
import { docxOf, docxParagraph, relationships, xlsxOf } from './office-files.js';
import { parseAs } from './parse-file.js';

const limited = (code: string) => ({ code, kind: 'permanent' });

it('refuses archives that unpack to far more than they are', async () => {
  const zeros = 'a'.repeat(20_000_000);
  const bomb = docxOf(docxParagraph('x'), { 'word/media/a.xml': zeros, 'word/media/b.xml': zeros });
  await expect(parseAs('a.docx', bomb)).rejects.toMatchObject(limited('limit_exceeded'));
  const inDocument = docxOf(docxParagraph(zeros));
  await expect(parseAs('a.docx', inDocument)).rejects.toMatchObject(limited('limit_exceeded'));
});

it('counts what comes out, whatever the directory says', async () => {
  const bytes = Buffer.from(docxOf(docxParagraph('b'.repeat(20_000_000))));
  // The sizes in the directory and the local headers are made small.
  const honest = Buffer.from(new Uint8Array(bytes));
  for (let at = honest.indexOf('PK\x01\x02', 0, 'latin1'); at >= 0; at = honest.indexOf('PK\x01\x02', at + 4, 'latin1'))
    honest.writeUInt32LE(1_000, at + 24);
  await expect(parseAs('a.docx', new Uint8Array(honest))).rejects.toMatchObject(limited('limit_exceeded'));
});

it('refuses archives with too many entries, and text that is too long', async () => {
  const many = docxOf(docxParagraph('x'), Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`word/x${n}.xml`, '<a/>'])));
  await expect(parseAs('a.docx', many, { limits: { ...limits, archiveEntries: 20 } })).rejects.toMatchObject(
    limited('limit_exceeded'),
  );
  for (const [name, bytes] of [
    ['a.txt', Buffer.from('word '.repeat(1_000))],
    ['a.md', Buffer.from('word '.repeat(1_000))],
    ['a.html', Buffer.from(`<p>${'word '.repeat(1_000)}</p>`)],
    ['a.csv', Buffer.from('word,word\n'.repeat(1_000))],
    ['a.docx', docxOf(docxParagraph('word '.repeat(1_000)))],
  ] as const)
    await expect(parseAs(name, new Uint8Array(bytes), { limits: { ...limits, textUnits: 1_000 } })).rejects.toMatchObject(
      limited('limit_exceeded'),
    );
});

it('loads and expands no entities, and lets no XML nest without end', async () => {
  const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(100)}"><!ENTITY c SYSTEM "file:///etc/passwd">]>`;
  const document = `${laughs}<w:document xmlns:w="w"><w:body>${docxParagraph('&b;&c;')}</w:body></w:document>`;
  await expect(parseAs('a.docx', docxOf('', { 'word/document.xml': document }))).rejects.toMatchObject(limited('corrupt'));
  const undeclared = docxOf(docxParagraph('&c;'));
  await expect(parseAs('a.docx', undeclared)).rejects.toMatchObject(limited('corrupt'));
  const deep = docxOf(`${'<w:sdt>'.repeat(5_000)}${docxParagraph('x')}${'</w:sdt>'.repeat(5_000)}`);
  await expect(parseAs('a.docx', deep)).rejects.toMatchObject(limited('limit_exceeded'));
});

it('never leaves the archive by a path', async () => {
  const escaping = writeZip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': relationships(['officeDocument', '../../../../etc/passwd']),
    '../../etc/passwd': '<w:document xmlns:w="w"/>',
    'word/document.xml': '<w:document xmlns:w="w"/>',
  });
  await expect(parseAs('a.docx', escaping)).rejects.toMatchObject(limited('corrupt'));
});

it('calls cut and garbled archives corrupt', async () => {
  const bytes = docxOf(docxParagraph('text '.repeat(500)));
  for (const share of [0.3, 0.6, 0.9])
    await expect(parseAs('a.docx', bytes.slice(0, bytes.length * share))).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:corrupt|unsupported_type)$/),
    });
  const garbled = writeZip({ '[Content_Types].xml': '<Types/>', 'word/document.xml': deflateRawSync(Buffer.from('x')) });
  await expect(parseAs('a.docx', garbled)).rejects.toMatchObject(limited('corrupt'));
});

it('stops when the caller gives up', async () => {
  const controller = new AbortController();
  const rows = Array.from({ length: 30_000 }, (_, n) => `<row r="${n + 1}"><c r="A${n + 1}"><v>${n}</v></c></row>`).join('');
  const parsing = parseAs('a.xlsx', xlsxOf([{ rows }]), { signal: controller.signal });
  controller.abort();
  await expect(parsing).rejects.toMatchObject({ code: 'parse_timeout' });
});

it('tells how far it is', async () => {
  const shares: number[] = [];
  await parseAs('a.md', '# A\n\ntext\n\n'.repeat(20_000), { onProgress: (share) => shares.push(share) });
  expect(shares.length).toBeGreaterThan(3);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(shares.every((share) => share > 0 && share <= 1)).toBe(true);
});
