import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { checkAborted } from '../limits.js';
import { openPdf } from './open-pdf.js';

/** PDF: text by page. */
export async function parsePdf(input: ParseInput): Promise<ParsedDocument> {
  const { document, close } = await openPdf(input);
  try {
    const builder = createDocumentBuilder(input.limits);
    for (let number = 1; number <= document.numPages; number++) {
      checkAborted(input);
      const page = await document.getPage(number);
      const content = await page.getTextContent({ includeMarkedContent: false, disableNormalization: true });
      let line = '';
      let lastY: number | undefined;
      for (const item of content.items) {
        const y = item.transform[5] ?? 0;
        if (lastY !== undefined && Math.abs(lastY - y) > 1.8 * item.height && item.height > 0) {
          builder.paragraph(line, { page: number });
          line = '';
        }
        line += item.str + (item.hasEOL ? '\n' : '');
        if (item.height > 0) lastY = y;
      }
      builder.paragraph(line, { page: number });
      page.cleanup();
      input.onProgress?.(number / document.numPages);
    }
    return finishBuilt('pdf', builder, { metadata: {}, warnings: [] });
  } finally {
    await close();
  }
}
