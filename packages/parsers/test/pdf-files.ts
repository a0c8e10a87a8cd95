import { degrees, PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';

export interface DrawnText {
  text: string;
  x: number;
  /** From the top of the page. */
  y: number;
  size?: number;
  bold?: boolean;
  mono?: boolean;
  /** Degrees, against the clock. */
  rotate?: number;
}

const PAGE_WIDTH = 612;
const PAGE_HEIGHT = 792;

/** A PDF whose pages hold these texts, in standard fonts. */
export async function pdfOf(
  pages: readonly (readonly DrawnText[])[],
  about: { title?: string; author?: string; created?: Date; pageRotation?: number } = {},
): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const fonts = {
    plain: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
    mono: await document.embedFont(StandardFonts.Courier),
  };
  for (const texts of pages) {
    const page = document.addPage([PAGE_WIDTH, PAGE_HEIGHT]);
    if (about.pageRotation !== undefined) page.setRotation(degrees(about.pageRotation));
    for (const { text, x, y, size = 11, bold, mono, rotate = 0 } of texts) {
      const font: PDFFont = mono ? fonts.mono : bold ? fonts.bold : fonts.plain;
      page.drawText(text, { x, y: PAGE_HEIGHT - y, size, font, rotate: degrees(rotate) });
    }
  }
  if (about.title !== undefined) document.setTitle(about.title);
  if (about.author !== undefined) document.setAuthor(about.author);
  document.setCreationDate(about.created ?? new Date(Date.UTC(2024, 0, 2)));
  return document.save();
}

/** Lines of one column, a step apart. */
export function column(
  lines: readonly string[],
  x: number,
  y: number,
  options: Partial<DrawnText> & { step?: number } = {},
): DrawnText[] {
  const { step = 14, ...rest } = options;
  return lines.map((text, index) => ({ text, x, y: y + index * step, ...rest }));
}
