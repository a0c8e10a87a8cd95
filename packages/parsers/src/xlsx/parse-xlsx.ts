import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { openPackage } from '../office/package.js';
import { readSheet } from './read-sheet.js';
import { readWorkbook } from './workbook.js';
import { writeSheet } from './write-sheet.js';

/** Excel workbooks: a level-1 heading and tables a sheet. */
export async function parseXlsx(input: ParseInput): Promise<ParsedDocument> {
  const office = await openPackage(input);
  const workbook = await readWorkbook(office);
  const readHidden = settingsOf(input).xlsx.hidden_sheets;
  const builder = createDocumentBuilder(input.limits);
  const warnings: string[] = [];
  for (const [index, sheet] of workbook.sheets.entries()) {
    input.onProgress?.(index / workbook.sheets.length);
    if (sheet.hidden && !readHidden) {
      warnings.push(`hidden_sheet_skipped: ${sheet.name}`);
      continue;
    }
    if (sheet.part === undefined || !/worksheets?\//.test(sheet.part)) continue;
    const rows = await readSheet(input, office, sheet.part, workbook);
    writeSheet(builder, sheet.name, rows);
  }
  return finishBuilt('xlsx', builder, { metadata: await office.metadata(), warnings });
}
