/** A line of a tagged page: its role in the structure tree, its text, its size. */
export interface TaggedLine {
  role: string;
  text: string;
  size?: number;
}

/** A PDF of one page with a structure tree (PDF 32000-1, 14.7 and 14.8), written by hand: each line is an element of its role. */
export function taggedPdf(lines: readonly TaggedLine[]): Uint8Array {
  const content = lines
    .map(
      ({ role, text, size = 11 }, id) =>
        `/${role} <</MCID ${id}>> BDC BT /F1 ${size} Tf 60 ${730 - id * 24} Td (${text}) Tj ET EMC`,
    )
    .join('\n');
  const first = 7;
  const kids = lines.map((_, id) => `${first + id} 0 R`).join(' ');
  const objects = [
    '<</Type /Catalog /Pages 2 0 R /MarkInfo <</Marked true>> /StructTreeRoot 5 0 R>>',
    '<</Type /Pages /Kids [3 0 R] /Count 1>>',
    '<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /StructParents 0 /Contents 4 0 R /Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>>',
    `<</Length ${content.length}>> stream\n${content}\nendstream`,
    `<</Type /StructTreeRoot /K 6 0 R /ParentTree <</Nums [0 [${kids}]]>>>>`,
    `<</Type /StructElem /S /Document /P 5 0 R /K [${kids}]>>`,
    ...lines.map(({ role }, id) => `<</Type /StructElem /S /${role} /P 6 0 R /Pg 3 0 R /K ${id}>>`),
  ];
  let file = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj ${object} endobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer <</Size ${objects.length + 1} /Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(file, 'latin1'));
}
