import type { ParsedDocument } from '@sluice/core';
import { expect } from 'vitest';

/** Characters that no text may hold. */
const UNCLEAN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * The laws of parsed documents: elements are slices of the text, in order, without overlap; everything visible outside front matter
 * (which ends at `bodyStart`) lies in an element; parts lie in their element, in order; the text is clean.
 */
export function expectLawful(document: ParsedDocument, bodyStart = 0): void {
  const { text, elements } = document;
  expect(text).not.toMatch(UNCLEAN);
  let covered = bodyStart;
  for (const element of elements) {
    expect(text.slice(element.start, element.end)).toBe(element.text);
    expect(element.start).toBeGreaterThanOrEqual(covered);
    expect(element.end).toBeGreaterThan(element.start);
    expect(element.text.trim()).not.toBe('');
    expect(text.slice(covered, element.start).trim()).toBe('');
    covered = element.end;
    let last = element.start;
    for (const part of element.parts ?? []) {
      expect(part.start).toBeGreaterThanOrEqual(last);
      expect(part.end).toBeGreaterThanOrEqual(part.start);
      expect(part.end).toBeLessThanOrEqual(element.end);
      last = part.end;
    }
    if (element.rows !== undefined) expect(element.parts?.length).toBe(element.rows.length);
    if (element.kind === 'heading') expect(element.level).toBeGreaterThanOrEqual(1);
  }
  if (elements.length > 0) expect(text.slice(covered).trim()).toBe('');
  else expect(text).toBe('');
}
