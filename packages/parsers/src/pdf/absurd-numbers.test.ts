import { deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fixture, parseAs } from '../../test/parse-file.js';
import { makePdf } from '../bench/make-documents.js';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const plain = Buffer.from(makePdf(2)).toString('latin1');
const locked = Buffer.from(fixture('p_locked_user.pdf')).toString('latin1');
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const composite = (facts: string) =>
  `<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A ${facts} >>] >>`;
const packed = (text: string) => deflateSync(Buffer.from(text)).toString('latin1');
/** With one more object in front of its table: readers find it by its number when they repair the file. */
const withObject = (pdf: string, object: string) => pdf.replace('xref\n', () => `99 0 obj\n${object}\nendobj\nxref\n`);
const stream = (facts: string, content: string) => `<< ${facts} /Length ${content.length} >>\nstream\n${content}\nendstream`;
const map = (ranges: string) => `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${ranges} endcmap`;
const ranges = '20 beginbfrange <00000000> <00fffffe> <0041> endbfrange';
const table = (facts: string) =>
  `%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n3 0 obj\n<< /Type /XRef /Root 1 0 R ${facts} /Length 9 >>\nstream\n\0\0\0\0\0\0\0\0\0\nendstream\nendobj\nstartxref\n58\n%%EOF\n`;

/** Each of these kept pdf.js in a loop, or filled its memory, until the process was ended from outside. */
const absurd: Record<string, string> = {
  'the length of a key': locked.replace('/V 1 /R 2', '/V 2 /R 3 /Length 2147483640'),
  'the length of a key of a crypt filter': locked.replace(
    '/V 1 /R 2',
    '/V 4 /R 4 /StmF /S /StrF /S /CF << /S << /CFM /V2 /Length 2147483640 >> >>',
  ),
  'widths of a font': plain.replace(FONT, composite('/W [0 [500 600] 3 2147483647 500]')),
  'widths of a font in an object stream': withObject(
    plain,
    stream('/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode', packed(`1 0 ${composite('/W [3 2147483647 500]')}`)),
  ),
  'columns of a scanned line': plain.replace(
    /\/Length (\d+) >>/,
    '/Length $1 /Filter /CCITTFaxDecode /DecodeParms << /Columns 900000000 /K -1 >> >>',
  ),
  'ranges of a character map': withObject(plain, stream('', map(ranges))),
  'ranges of a packed character map': withObject(plain, stream('/Filter /FlateDecode', packed(map(ranges)))),
  'many ranges of a character map': withObject(
    plain,
    stream('/Filter /FlateDecode', packed(map(`99 begincidrange ${'<000000> <0fffff> 1\n'.repeat(99)} endcidrange`))),
  ),
  'entries of no width': table('/Size 400000000 /W [0 0 0]'),
  'fewer pages than none': plain.replace('/Count 2', '/Count -5'),
};

it.each(Object.entries(absurd))('refuses a file that is absurd in %s', async (_, pdf) => {
  await expect(parseAs('a.pdf', bytesOf(pdf))).rejects.toMatchObject({ code: 'corrupt', kind: 'permanent' });
});

/** Damage that pdf.js repairs by itself: the text is there whatever the numbers say. */
const repaired: Record<string, string> = {
  'the number of pages': plain.replace('/Count 2', '/Count 2147483647'),
  'the length of a stream': plain.replace(/\/Length \d+/, '/Length 99999999999'),
  'the size of the table': plain.replace(/\/Size \d+/, '/Size 2147483647'),
  'the entries of the table': plain.replace(/xref\n0 \d+/, 'xref\n0 2147483647'),
  'an offset of the table': plain.replace(/\n\d{10} 00000 n/, '\n9999999999 00000 n'),
  'the place of the table': plain.replace(/startxref\n\d+/, 'startxref\n99999999999'),
  'objects of an object stream': withObject(plain, stream('/Type /ObjStm /N 2147483647 /First 2147483647', '1 0 2 10')),
  'the size of a picture': withObject(
    plain.replace('/Font << /F1 3 0 R >>', '/Font << /F1 3 0 R >> /XObject << /I 99 0 R >>').replace('BT /F1', '/I Do BT /F1'),
    stream('/Type /XObject /Subtype /Image /Width 2147483647 /Height 2147483647 /BitsPerComponent 8 /ColorSpace /DeviceRGB', 'x'),
  ),
  'characters of a font': plain.replace('/BaseFont /Helvetica', '/BaseFont /Helvetica /FirstChar 0 /LastChar 2147483647'),
};

it.each(Object.entries(repaired))('reads a file that is absurd in %s', async (_, pdf) => {
  expect((await parseAs('a.pdf', bytesOf(pdf))).elements).toEqual((await parseAs('a.pdf', bytesOf(plain))).elements);
});

it('takes no ordinary number for absurd', async () => {
  for (const pdf of [
    plain.replace(FONT, composite('/W [0 [500 600] 3 65535 500]')),
    // Single characters of a map, whose codes and targets are no ranges.
    withObject(
      plain,
      stream('/Filter /FlateDecode', packed(map('3 beginbfchar <0b> <00660066> <0c> <006600660069> <0d> <0041> endbfchar'))),
    ),
    withObject(plain, stream('', map('1 begincidrange <00000000> <0010ffff> 0 endcidrange'))),
    locked.replace('/V 1 /R 2', '/V 2 /R 3 /Length 128'),
  ]) {
    const outcome = await parseAs('a.pdf', bytesOf(pdf)).catch((error: { code: string }) => error.code);
    expect(outcome).not.toBe('corrupt');
  }
});
