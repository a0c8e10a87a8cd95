import { InvalidArgumentError } from 'commander';

/** Parsers of option values; commander turns what they throw into a usage error. */

export function positiveInteger(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('must be a whole number from 1.');
  return Number(text);
}

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new InvalidArgumentError('must be a number of seconds.');
  return value;
}

export function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1)) throw new InvalidArgumentError('must be a number from 0 to 1.');
  return value;
}

/** Values between commas. */
export function list(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

export function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('must be JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('must be a JSON object.');
  return value as Record<string, unknown>;
}

/** `k=v` settings; values are read as JSON, else as text. */
export function setting(text: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('must read key=value.');
  const raw = text.slice(equals + 1);
  let value: unknown = raw;
  try {
    value = JSON.parse(raw);
  } catch {
    // Text without quotes, as `separators=paragraph`.
  }
  return { ...before, [text.slice(0, equals)]: value };
}
