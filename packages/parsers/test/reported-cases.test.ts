import { expect, it } from 'vitest';
import { expectLawful } from './laws.js';
import { fixture, parseFixture } from './parse-file.js';

/** What the text of a file (and its metadata, where subjects and titles are) must and must not hold. */
interface ReportedCase {
  title: string;
  file: string;
  contains?: string[];
  without?: string[];
  inOrder?: string[];
  /** Regular expressions. */
  matches?: string[];
  count?: Record<string, number>;
}

/** Small files of the kinds that users of such systems reported as read wrongly. */
const cases: ReportedCase[] = JSON.parse(new TextDecoder().decode(fixture('reported/cases.json')));

it.each(cases)('$title: $file', async (reported) => {
  const document = await parseFixture(`reported/${reported.file}`);
  expectLawful(document);
  const text = [document.text, ...Object.values(document.metadata)].join('\n');
  for (const part of reported.contains ?? []) expect(text).toContain(part);
  for (const part of reported.without ?? []) expect(text).not.toContain(part);
  for (const pattern of reported.matches ?? []) expect(text).toMatch(new RegExp(pattern));
  for (const [part, times] of Object.entries(reported.count ?? {})) expect(document.text.split(part)).toHaveLength(times + 1);
  const places = (reported.inOrder ?? []).map((part) => document.text.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});
