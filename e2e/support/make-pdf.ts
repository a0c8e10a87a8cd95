import { PDFDocument, StandardFonts } from 'pdf-lib';

/** A PDF with one line of text a page. */
export async function makePdf(pages: readonly string[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const text of pages) document.addPage([595, 842]).drawText(text, { x: 60, y: 760, size: 12, font });
  return document.save();
}
