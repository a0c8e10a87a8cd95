import type { FieldType, FieldValue } from '@sluice/core';
import { isoInstant, parseDate } from './dates.js';

/** Longest text value, in UTF-16 units, and longest list: an index entry is no place for a document. */
const MAX_TEXT_VALUE = 10_000;
const MAX_LIST_VALUES = 1_000;

export type Coercion<T = FieldValue> = { ok: true; value: T } | { ok: false; expected: string };

/**
 * Makes a value fit a field's type, in a friendly way: scalars become text on text fields, a string becomes a list on list fields (split
 * at commas), numbers and booleans may be written as text, a date may be a year, a month, a day or an instant (its start is kept, as an
 * ISO instant in UTC). Text is normalised to NFC and loses control characters. What does not fit says what was expected.
 */
export function coerce(type: FieldType, value: unknown): Coercion {
  switch (type) {
    case 'text':
      return coerceText(value);
    case 'text[]':
      return coerceList(value);
    case 'int':
      return coerceInt(value);
    case 'number':
      return coerceNumber(value);
    case 'date':
      return coerceDate(value);
    case 'boolean':
      return coerceBoolean(value);
  }
}

/** Text as it is compared: well-formed and in NFC. Nothing else changes, so that exact stays exact. */
export function normalText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd').normalize('NFC');
}

/** Text of a metadata value as it is stored: {@link normalText} without control characters save tab and line feed. */
export function cleanText(text: string): string {
  return normalText(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ''));
}

function coerceText(value: unknown): Coercion<string> {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return misfit('a text');
  const text = cleanText(String(value));
  return text.length > MAX_TEXT_VALUE ? misfit(`a text of at most ${MAX_TEXT_VALUE} characters`) : { ok: true, value: text };
}

export function coerceList(value: unknown): Coercion<string[]> {
  const members = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  if (members.length > MAX_LIST_VALUES) return misfit(`a list of at most ${MAX_LIST_VALUES} values`);
  const texts = new Set<string>();
  for (const member of members) {
    const text = coerceText(member);
    if (!text.ok) return misfit('a list of texts');
    const trimmed = text.value.trim();
    if (trimmed !== '') texts.add(trimmed);
  }
  return { ok: true, value: [...texts] };
}

const NUMERIC = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function coerceNumber(value: unknown): Coercion<number> {
  const number = typeof value === 'string' && NUMERIC.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return misfit('a number');
  return { ok: true, value: number === 0 ? 0 : number };
}

export function coerceInt(value: unknown): Coercion<number> {
  const number = coerceNumber(value);
  return number.ok && Number.isSafeInteger(number.value) ? number : misfit('a whole number');
}

const YES = new Set(['true', 'yes', 'on']);
const NO = new Set(['false', 'no', 'off']);

function coerceBoolean(value: unknown): Coercion<boolean> {
  if (typeof value === 'boolean') return { ok: true, value };
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (YES.has(word)) return { ok: true, value: true };
  if (NO.has(word)) return { ok: true, value: false };
  return misfit('true or false');
}

function coerceDate(value: unknown): Coercion<string> {
  if (value instanceof Date && Number.isFinite(value.getTime())) return coerceDate(value.toISOString());
  // A year alone is read as a number by YAML.
  const text = typeof value === 'number' ? String(value) : value;
  const span = typeof text === 'string' ? parseDate(text.trim()) : undefined;
  return span === undefined
    ? misfit('a date (YYYY, YYYY-MM, YYYY-MM-DD or an ISO 8601 instant)')
    : { ok: true, value: isoInstant(span.start) };
}

function misfit(expected: string): { ok: false; expected: string } {
  return { ok: false, expected };
}
