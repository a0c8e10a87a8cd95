import { writeZip } from './zip-writer.js';

const WORDS =
  'kettle water boil pour handle steam spout lid copper kitchen morning evening measure record valve pressure report season garden window table number simple careful letter market engine bridge river signal pocket winter'.split(
    ' ',
  );

/** The n-th of any number of distinct sentences; the same n gives the same sentence. */
export function sentence(n: number): string {
  const word = (k: number): string => WORDS[(n * 7 + k * 13 + Math.floor(n / WORDS.length) * k) % WORDS.length] ?? '';
  return `The ${word(1)} number ${n} holds ${word(2)} and ${word(3)} until the ${word(4)} of the ${word(5)} is ${word(6)}.`;
}

export function paragraph(n: number, sentences = 6): string {
  return Array.from({ length: sentences }, (_, index) => sentence(n * sentences + index)).join(' ');
}

/** Plain text of about this many bytes: 2,000 distinct paragraphs over and over. */
export function makeText(bytes: number): Uint8Array {
  const unit = Buffer.from(Array.from({ length: 2_000 }, (_, n) => `${paragraph(n)}\n\n`).join(''), 'utf8');
  const result = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += unit.length) unit.copy(result, at);
  return result;
}

export function makeMarkdown(sections: number): Uint8Array {
  return Buffer.from(
    Array.from(
      { length: sections },
      (_, n) =>
        `## Section ${n}\n\n${paragraph(3 * n)}\n\n- ${sentence(n)}\n- ${sentence(n + 1)}\n\n\`\`\`sh\nboil ${n}\n\`\`\`\n\n${paragraph(3 * n + 1)}\n\n| key | value |\n|---|---|\n| a | ${n} |\n\n`,
    ).join(''),
  );
}

export function makeHtml(sections: number): Uint8Array {
  const body = Array.from(
    { length: sections },
    (_, n) =>
      `<h2>Section ${n}</h2><p>${paragraph(2 * n)}</p><ul><li>${sentence(n)}</li><li>${sentence(n + 1)}</li></ul><table><tr><th>key</th><th>value</th></tr><tr><td>a</td><td>${n}</td></tr></table>`,
  ).join('\n');
  return Buffer.from(`<!doctype html><html lang="en"><head><title>Bench</title></head><body><main>${body}</main></body></html>`);
}

const COLUMNS = ['id', 'name', 'date', 'amount', 'share', 'city', 'note', 'flag'];

function cells(n: number): string[] {
  return [
    String(n),
    `item ${n}`,
    `2024-01-${String((n % 28) + 1).padStart(2, '0')}`,
    (n * 1.25).toFixed(2),
    `${n % 100}%`,
    WORDS[n % WORDS.length] ?? '',
    sentence(n),
    n % 2 === 0 ? 'yes' : 'no',
  ];
}

export function makeCsv(rows: number): Uint8Array {
  const lines = [COLUMNS.join(',')];
  for (let n = 0; n < rows; n++)
    lines.push(
      cells(n)
        .map((cell) => `"${cell}"`)
        .join(','),
    );
  return Buffer.from(lines.join('\n'));
}

export function makeJsonLines(records: number): Uint8Array {
  return Buffer.from(
    Array.from({ length: records }, (_, n) =>
      JSON.stringify(Object.fromEntries(cells(n).map((cell, index) => [COLUMNS[index] ?? '', cell]))),
    ).join('\n'),
  );
}

export function makeJson(records: number): Uint8Array {
  const items = Array.from({ length: records }, (_, n) =>
    Object.fromEntries(cells(n).map((cell, index) => [COLUMNS[index] ?? '', cell])),
  );
  return Buffer.from(JSON.stringify({ title: 'Bench', items }, null, 1));
}

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function rels(targets: readonly (readonly [string, string])[]): string {
  const nodes = targets.map(
    ([type, target], index) => `<Relationship Id="r${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<?xml version="1.0"?><Relationships xmlns="${RELATIONSHIPS}">${nodes.join('')}</Relationships>`;
}

/** A workbook with one sheet of this many rows: shared strings, numbers and dates. */
export function makeXlsx(rows: number): Uint8Array {
  const strings: string[] = [];
  const index = new Map<string, number>();
  const shared = (text: string): number => {
    const known = index.get(text);
    if (known !== undefined) return known;
    strings.push(text);
    index.set(text, strings.length - 1);
    return strings.length - 1;
  };
  const pieces: string[] = [];
  const cell = (column: number, row: number, text: string): string => {
    const reference = `${String.fromCharCode(65 + column)}${row}`;
    if (row > 1 && (column === 0 || column === 3)) return `<c r="${reference}"><v>${text}</v></c>`;
    if (row > 1 && column === 2) return `<c r="${reference}" s="1"><v>${45_292 + (row % 28)}</v></c>`;
    return `<c r="${reference}" t="s"><v>${shared(text)}</v></c>`;
  };
  for (let row = 1; row <= rows + 1; row++) {
    const values = row === 1 ? COLUMNS : cells(row - 2);
    pieces.push(`<row r="${row}">${values.map((text, column) => cell(column, row, text)).join('')}</row>`);
  }
  return writeZip({
    '[Content_Types].xml': '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': rels([['officeDocument', 'xl/workbook.xml']]),
    'xl/_rels/workbook.xml.rels': rels([
      ['worksheet', 'worksheets/sheet1.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
      ['styles', 'styles.xml'],
    ]),
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns:r="${OFFICE}"><sheets><sheet name="Bench" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/styles.xml':
      '<?xml version="1.0"?><styleSheet><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/sharedStrings.xml': `<?xml version="1.0"?><sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/worksheets/sheet1.xml': `<?xml version="1.0"?><worksheet><sheetData>${pieces.join('')}</sheetData></worksheet>`,
  });
}

export function makeDocx(paragraphs: number): Uint8Array {
  const body = Array.from({ length: paragraphs }, (_, n) => `<w:p><w:r><w:t>${paragraph(n)}</w:t></w:r></w:p>`).join('');
  return writeZip({
    '[Content_Types].xml': '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': rels([['officeDocument', 'word/document.xml']]),
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

export function makePptx(slides: number): Uint8Array {
  const entries: Record<string, string> = {
    '[Content_Types].xml': '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': rels([['officeDocument', 'ppt/presentation.xml']]),
    'ppt/_rels/presentation.xml.rels': rels(
      Array.from({ length: slides }, (_, n) => ['slide', `slides/slide${n + 1}.xml`] as const),
    ),
    'ppt/presentation.xml': `<?xml version="1.0"?><p:presentation xmlns:p="p" xmlns:r="${OFFICE}"><p:sldIdLst>${Array.from({ length: slides }, (_, n) => `<p:sldId id="${256 + n}" r:id="r${n + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
  };
  for (let n = 0; n < slides; n++)
    entries[`ppt/slides/slide${n + 1}.xml`] =
      `<?xml version="1.0"?><p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Slide ${n}</a:t></a:r></a:p></p:txBody></p:sp><p:sp><p:nvSpPr><p:cNvPr id="3" name="b"/><p:nvPr/></p:nvSpPr><p:txBody>${[1, 2, 3].map((k) => `<a:p><a:r><a:t>${sentence(3 * n + k)}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp></p:spTree></p:cSld></p:sld>`;
  return writeZip(entries);
}

export function makeEml(paragraphs: number): Uint8Array {
  const body = Array.from({ length: paragraphs }, (_, n) => paragraph(n)).join('\r\n\r\n');
  return Buffer.from(
    `From: a@example.test\r\nTo: b@example.test\r\nSubject: Bench\r\nDate: Tue, 05 Mar 2024 23:30:00 -0500\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}\r\n`,
  );
}

export function makeCode(functions: number): Uint8Array {
  return Buffer.from(
    Array.from(
      { length: functions },
      (_, n) =>
        `// ${sentence(n)}\nexport function boil${n}(water: number): number {\n  const steam = water + ${n};\n  return steam;\n}\n\n`,
    ).join(''),
  );
}

export function makeSql(statements: number): Uint8Array {
  return Buffer.from(
    Array.from(
      { length: statements },
      (_, n) => `-- ${sentence(n)}\nINSERT INTO kettle (id, name) VALUES (${n}, 'item ${n}');\n`,
    ).join(''),
  );
}

/** Lines that fit a page of text. */
const PAGE_LINES = 45;

/** A PDF of this many pages of running text with a header and a page number, in one of the standard fonts. */
export function makePdf(pages: number): Uint8Array {
  const objects: string[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages} /Kids [${Array.from({ length: pages }, (_, n) => `${4 + 2 * n} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const show = (x: number, y: number, size: number, text: string): string => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET`;
  for (let page = 0; page < pages; page++) {
    const lines = Array.from({ length: PAGE_LINES }, (_, n) =>
      show(72, 700 - 14 * n, 10, sentence(page * PAGE_LINES + n).slice(0, 95)),
    );
    const stream = [show(72, 760, 9, 'The kettle handbook'), ...lines, show(300, 40, 9, String(page + 1))].join('\n');
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * page} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  const pieces = ['%PDF-1.4\n'];
  const offsets: number[] = [];
  let length = 9;
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    const piece = `${index + 1} 0 obj\n${object}\nendobj\n`;
    pieces.push(piece);
    length += piece.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  pieces.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
  );
  return Buffer.from(pieces.join(''), 'latin1');
}
