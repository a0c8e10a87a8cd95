import type { z } from 'zod';
import { knownKeysAt, nearest } from './known-keys.js';
import type { Path } from './problems.js';
import { documentSchema } from './sections/sections.js';

/** What zod found, in words for people, with the path it concerns. Values are never repeated: one might be a secret in a wrong place. */
export function describeIssue(issue: z.core.$ZodIssue, prefix: Path, data: unknown): { path: Path; message: string }[] {
  const path = [...prefix, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeysAt(documentSchema, path);
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, known) }));
    }
    case 'invalid_key':
      return [{ path, message: issue.issues.map(({ message }) => message).join('; ') }];
    case 'invalid_type':
      return [{ path, message: mismatch(article(issue.expected), valueAt(data, path)) }];
    case 'invalid_value':
      return [{ path, message: mismatch(oneOf(issue.values.map(String)), valueAt(data, path)) }];
    case 'invalid_union':
      return [{ path, message: describeUnion(issue, valueAt(data, path)) }];
    case 'too_small':
    case 'too_big':
    case 'invalid_format':
      return [{ path, message: issue.message.replace(/^(Invalid input|Too small|Too big): /, '') }];
    default:
      return [{ path, message: issue.message }];
  }
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return meant === undefined ? `unknown key; known are ${known.join(', ')}` : `unknown key; did you mean ${meant}?`;
}

function describeUnion(issue: z.core.$ZodIssueInvalidUnion, value: unknown): string {
  if (issue.message !== 'Invalid input' && issue.errors.length > 0) return issue.message;
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
  if (options.length > 0) {
    const meant = typeof value === 'string' ? nearest(value, options) : undefined;
    return `${mismatch(oneOf(options), value)}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  const choices = issue.errors.flatMap(([first]) => {
    if (first === undefined) return [];
    if (first.code === 'invalid_value') return first.values.map(String);
    return first.code === 'invalid_type' ? [article(first.expected)] : [first.message];
  });
  return mismatch([...new Set(choices)].join(' or '), value);
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function article(type: string): string {
  const words: Record<string, string> = {
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a mapping',
    record: 'a mapping',
  };
  return words[type] ?? type;
}

function mismatch(expected: string, value: unknown): string {
  return value === undefined ? `is missing; expected ${expected}` : `expected ${expected}, not ${typeName(value)}`;
}

function typeName(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : typeof value === 'string' ? 'this text' : `this ${typeof value}`;
}

function valueAt(data: unknown, path: Path): unknown {
  let value = data;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part]; // an object, asked for an own member
  }
  return value;
}
