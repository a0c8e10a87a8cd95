import type { ParsedDocument } from '@sluice/core';

/** Characters that no text may hold. */
const UNCLEAN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * The laws of parsed documents that this one breaks, none of them as a rule: elements are slices of the text, in order, without
 * overlap; everything visible outside front matter (which ends at `bodyStart`) lies in an element; parts lie in their element, in
 * order; the text is clean; a document without elements has no text.
 */
export function brokenLaws(document: ParsedDocument, bodyStart = 0): string[] {
  const { text, elements } = document;
  const broken: string[] = [];
  const check = (holds: boolean, law: string): void => {
    if (!holds) broken.push(law);
  };
  check(!UNCLEAN.test(text), 'the text holds control characters or lone surrogates');
  check(elements.length > 0 || text === '', 'a document without elements has text');
  let covered = bodyStart;
  for (const [index, element] of elements.entries()) {
    const where = `element ${index} (${element.kind}, ${element.start}-${element.end})`;
    check(text.slice(element.start, element.end) === element.text, `${where} is no slice of the text`);
    check(element.start >= covered, `${where} overlaps the one before`);
    check(element.end > element.start && element.text.trim() !== '', `${where} is blank`);
    check(text.slice(covered, element.start).trim() === '', `text before ${where} lies in no element`);
    covered = element.end;
    let last = element.start;
    for (const part of element.parts ?? []) {
      check(part.start >= last && part.end >= part.start && part.end <= element.end, `parts of ${where} are out of order`);
      last = part.end;
    }
    if (element.rows !== undefined) check(element.parts?.length === element.rows.length, `${where} has rows without places`);
    check(
      element.rows?.every((row) => row.every((cell) => typeof cell === 'string')) ?? true,
      `${where} has cells that are no text`,
    );
    if (element.kind === 'heading') check((element.level ?? 0) >= 1, `${where} is a heading without level`);
  }
  check(elements.length === 0 || text.slice(covered).trim() === '', 'text at the end lies in no element');
  return broken;
}
