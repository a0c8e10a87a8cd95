import type { ParsedDocument } from '@sluice/core';
import { expect } from 'vitest';
import { brokenLaws } from '../src/laws.js';

/** Expects that a document keeps all laws of parsed documents; front matter ends at `bodyStart`. */
export function expectLawful(document: ParsedDocument, bodyStart = 0): void {
  expect(brokenLaws(document, bodyStart)).toEqual([]);
}
