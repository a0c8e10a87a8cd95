import { expect, it } from 'vitest';
import { headerRowsOf } from './table-header.js';

it.each([
  [
    1,
    'names over values',
    [
      ['name', 'count'],
      ['a', '1'],
    ],
  ],
  [
    1,
    'names over texts',
    [
      ['key', 'note'],
      ['k0', 'first'],
      ['k1', 'second'],
    ],
  ],
  [
    0,
    'values alone',
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  [
    1,
    'years over values',
    [
      ['item', '2023', '2024'],
      ['a', '11', '12'],
    ],
  ],
  [
    2,
    'groups over names, blank where they go on',
    [
      ['Region', '2023', '', '2024', ''],
      ['', 'Q1', 'Q2', 'Q1', 'Q2'],
      ['N', '1', '2', '3', '4'],
    ],
  ],
  [
    2,
    'groups over names, repeated where they go on',
    [
      ['Item', 'Plan', 'Plan', 'Done', 'Done'],
      ['Item', 'A', 'B', 'A', 'B'],
      ['N', '1', '2', '3', '4'],
    ],
  ],
  [
    2,
    'units below names',
    [
      ['Length', 'Mass'],
      ['mm', 'kg'],
      ['1', '2'],
    ],
  ],
  [
    2,
    'units in brackets, not in each column',
    [
      ['Time', 'Speed'],
      ['', '[m/s]'],
      ['1', '2'],
    ],
  ],
  [
    3,
    'groups, names and units',
    [
      ['T', 'In', 'In', 'Out', 'Out'],
      ['T', 'a', 'b', 'a', 'b'],
      ['s', 'mm', 'mm', 'mm', 'mm'],
      ['1', '2', '3', '4', '5'],
    ],
  ],
  [
    1,
    'short words that are no units, over words',
    [
      ['from', 'to'],
      ['m', 'h'],
      ['a', 'b'],
    ],
  ],
  [
    1,
    'repeated names over texts',
    [
      ['Area', 'Area', 'City', 'City'],
      ['North', 'South', 'A', 'B'],
      ['x', 'y', 'z', 'w'],
    ],
  ],
])('%d rows are the header: %s', (count, _, rows) => {
  expect(headerRowsOf(rows)).toBe(count);
});
