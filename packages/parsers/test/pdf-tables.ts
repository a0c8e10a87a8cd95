import type { DrawnText } from './pdf-files.js';

/** A table without rules: what it says, row by row, and how it is drawn. */
export interface DrawnTable {
  name: string;
  rows: string[][];
  draw: DrawnText[];
}

function grid(name: string, rows: string[][], xs: number[], right: number[] = [], boldHeader = false): DrawnTable {
  const [y, step, size] = [200, 14, 10];
  const draw = rows.flatMap((row, r) =>
    row.flatMap((text, c) =>
      text === ''
        ? []
        : [
            {
              text,
              x: right.includes(c) ? (xs[c] ?? 0) - text.length * size * 0.5 : (xs[c] ?? 0),
              y: y + r * step,
              size,
              bold: boldHeader && r === 0,
            },
          ],
    ),
  );
  return { name, rows, draw };
}
export const tables: DrawnTable[] = [
  grid(
    'plain',
    [
      ['Name', 'Count', 'Price'],
      ['Bolt', '12', '3.50'],
      ['Nut', '40', '1.20'],
      ['Washer', '7', '0.80'],
    ],
    [60, 200, 300],
    [1, 2],
  ),
  grid(
    'long first column',
    [
      ['Item', 'Count', 'Price'],
      ['Galvanised bolt for the outer gate', '12', '3.50'],
      ['Nut of brass with a long collar', '40', '1.20'],
      ['Washer of rubber', '7', '0.80'],
      ['Spare chain', '2', '9.00'],
    ],
    [60, 330, 430],
    [1, 2],
  ),
  grid(
    'two text columns',
    [
      ['Term', 'Meaning'],
      ['Berth', 'A place where a ship lies'],
      ['Fender', 'A cushion along the quay'],
      ['Hawser', 'A heavy rope for mooring'],
      ['Bollard', 'A post for ropes'],
    ],
    [60, 180],
  ),
  grid(
    'narrow gaps',
    [
      ['Year', 'North', 'South', 'East', 'West'],
      ['2021', '1,200', '3,400', '560', '78'],
      ['2022', '1,300', '3,500', '570', '79'],
      ['2023', '1,400', '3,600', '580', '80'],
    ],
    [60, 95, 135, 175, 205],
  ),
  grid(
    'empty cells',
    [
      ['Port', 'In', 'Out', 'Note'],
      ['Bergen', '12', '', 'closed'],
      ['Oslo', '', '7', ''],
      ['Moss', '3', '4', 'open'],
    ],
    [60, 180, 260, 340],
  ),
  grid(
    'form',
    [
      ['Name:', 'Ida Berg'],
      ['Date of birth:', '4 May 1980'],
      ['Address:', 'Quay street 7, Bergen'],
      ['Phone:', '555 0100'],
    ],
    [60, 190],
  ),
  grid(
    'wide form',
    [
      ['Order no.', '4471', 'Date', '4 May 2024'],
      ['Customer', 'Ida Berg', 'Terms', '30 days'],
      ['Ship to', 'Bergen', 'Via', 'rail'],
    ],
    [60, 140, 300, 380],
  ),
  grid(
    'header bold',
    [
      ['Valve', 'Setting', 'Checked'],
      ['A1', 'open', 'yes'],
      ['B2', 'shut', 'no'],
      ['C3', 'half open', 'yes'],
    ],
    [60, 180, 300],
    [],
    true,
  ),
  grid(
    'text cells',
    [
      ['Task', 'Owner', 'What is to be done'],
      ['Pump', 'Ida', 'Replace the gasket before June'],
      ['Crane', 'Ole', 'Grease the chain and test it'],
      ['Gate', 'Per', 'Paint both wings'],
    ],
    [60, 150, 230],
  ),
];
// wrapped cells
tables.push({
  name: 'wrapped cells',
  rows: [
    ['Task', 'What', 'Cost'],
    ['Pump', 'Replace the gasket before the first of June and test it', '120'],
    ['Crane', 'Grease the chain', '80'],
    ['Gate', 'Paint both wings, inside and outside', '60'],
  ],
  draw: [
    ...[
      ['Task', 60],
      ['What', 150],
      ['Cost', 400],
    ].map(([text, x]) => ({ text: String(text), x: Number(x), y: 200, size: 10 })),
    { text: 'Pump', x: 60, y: 218, size: 10 },
    { text: 'Replace the gasket before the', x: 150, y: 218, size: 10 },
    { text: '120', x: 400, y: 218, size: 10 },
    { text: 'first of June and test it', x: 150, y: 230, size: 10 },
    { text: 'Crane', x: 60, y: 248, size: 10 },
    { text: 'Grease the chain', x: 150, y: 248, size: 10 },
    { text: '80', x: 400, y: 248, size: 10 },
    { text: 'Gate', x: 60, y: 266, size: 10 },
    { text: 'Paint both wings, inside', x: 150, y: 266, size: 10 },
    { text: '60', x: 400, y: 266, size: 10 },
    { text: 'and outside', x: 150, y: 278, size: 10 },
  ],
});
// vertically centred spanning first column
const span = (name: string, align: 'middle' | 'top'): DrawnTable => ({
  name,
  rows: [
    ['Region', 'Port', 'Ships'],
    ['North', 'Bergen', '12'],
    ['North', 'Tromso', '4'],
    ['South', 'Oslo', '30'],
    ['South', 'Moss', '8'],
  ],
  draw: [
    ...[
      ['Region', 60],
      ['Port', 160],
      ['Ships', 260],
    ].map(([text, x]) => ({ text: String(text), x: Number(x), y: 200, size: 10 })),
    { text: 'North', x: 60, y: align === 'top' ? 216 : 224, size: 10 },
    { text: 'Bergen', x: 160, y: 216, size: 10 },
    { text: '12', x: 260, y: 216, size: 10 },
    { text: 'Tromso', x: 160, y: 232, size: 10 },
    { text: '4', x: 260, y: 232, size: 10 },
    { text: 'South', x: 60, y: align === 'top' ? 248 : 256, size: 10 },
    { text: 'Oslo', x: 160, y: 248, size: 10 },
    { text: '30', x: 260, y: 248, size: 10 },
    { text: 'Moss', x: 160, y: 264, size: 10 },
    { text: '8', x: 260, y: 264, size: 10 },
  ],
});
tables.push(span('span middle', 'middle'), span('span top', 'top'));
// centred number cells in wrapped rows
tables.push({
  name: 'middle of wrapped',
  rows: [
    ['Task', 'What', 'Cost'],
    ['Pump', 'Replace the gasket before the first of June', '120'],
    ['Crane', 'Grease the chain and all of its wheels', '80'],
    ['Gate', 'Paint both wings', '70'],
  ],
  draw: [
    ...[
      ['Task', 60],
      ['What', 150],
      ['Cost', 400],
    ].map(([text, x]) => ({ text: String(text), x: Number(x), y: 200, size: 10 })),
    { text: 'Pump', x: 60, y: 226, size: 10 },
    { text: 'Replace the gasket before', x: 150, y: 220, size: 10 },
    { text: 'the first of June', x: 150, y: 232, size: 10 },
    { text: '120', x: 400, y: 226, size: 10 },
    { text: 'Crane', x: 60, y: 258, size: 10 },
    { text: 'Grease the chain', x: 150, y: 252, size: 10 },
    { text: 'and all of its wheels', x: 150, y: 264, size: 10 },
    { text: '80', x: 400, y: 258, size: 10 },
    { text: 'Gate', x: 60, y: 284, size: 10 },
    { text: 'Paint both wings', x: 150, y: 284, size: 10 },
    { text: '70', x: 400, y: 284, size: 10 },
  ],
});
// header over two lines
tables.push({
  name: 'header two lines',
  rows: [
    ['Port', 'Ships per year', 'Cargo in tonnes'],
    ['Bergen', '12', '3,400'],
    ['Oslo', '30', '9,100'],
    ['Moss', '8', '700'],
  ],
  draw: [
    { text: 'Ships', x: 160, y: 188, size: 10 },
    { text: 'Cargo', x: 260, y: 188, size: 10 },
    { text: 'Port', x: 60, y: 200, size: 10 },
    { text: 'per year', x: 160, y: 200, size: 10 },
    { text: 'in tonnes', x: 260, y: 200, size: 10 },
    ...[
      ['Bergen', '12', '3,400'],
      ['Oslo', '30', '9,100'],
      ['Moss', '8', '700'],
    ].flatMap((row, r) => row.map((text, c) => ({ text, x: 60 + c * 100, y: 218 + r * 15, size: 10 }))),
  ],
});
