/**
 * What a zip archive is, by the names of its parts. The names stand uncompressed before the data and in the directory at its end,
 * so that nothing has to be unpacked.
 */
export function zipFormat(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!buffer.includes('[Content_Types].xml')) return undefined;
  if (buffer.includes('word/document')) return 'docx';
  if (buffer.includes('ppt/presentation')) return 'pptx';
  if (buffer.includes('xl/workbook.xml')) return 'xlsx';
  return undefined;
}
