import { describe, expect, it } from 'vitest';
import { inferValues } from './infer-values.js';

const known = new Map(
  Object.entries({
    doc_type: ['sre_report', 'report', 'policy', 'document'],
    author: ['Ada Lovelace', 'Grace Hopper'],
    tags: ['security', 'network security', 'QX'],
    quarter: ['Q3'],
    category: ['Finanzen'],
  }).map(([field, values]) => [field, new Set(values)]),
);

describe('inferValues', () => {
  it.each([
    ['What was the service uptime last month?', { doc_type: 'sre_report' }],
    ['which policies are there', { doc_type: 'policy' }],
    ['Welche Richtlinie gilt?', { doc_type: 'policy' }],
    ['rapport annuel', { doc_type: 'report' }],
    ['papers by Lovelace', { author: 'Ada Lovelace' }],
    ['what did grace hopper write', { author: 'Grace Hopper' }],
    ['lovelace street', {}],
    ['is network security on', { tags: 'network security' }],
    ['finanzen', { category: 'Finanzen' }],
    ['the qx and q3', {}],
    ['how does the pump work', {}],
  ])('%s', (question, expected) => expect(inferValues(question, known)).toEqual(expected));
});
