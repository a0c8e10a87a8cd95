import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type StoredKey, sha256 } from '@sluice/core';

const PATTERN = /^slk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** A new key: its public id, the text that its holder keeps, and the hash that is stored. */
export function makeKey(): { id: string; text: string; hash: string } {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { id, text: `slk_${id}_${secret}`, hash: sha256(secret) };
}

/** The stored key that a text is; undefined when it is none. Secrets are compared by hash, in constant time. */
export function matchKey(text: string, keys: readonly StoredKey[]): StoredKey | undefined {
  const [, id, secret] = PATTERN.exec(text) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) return undefined;
  const given = Buffer.from(sha256(secret), 'hex');
  const stored = Buffer.from(key.hash, 'hex');
  return given.length === stored.length && timingSafeEqual(given, stored) ? key : undefined;
}

/** The key of an Authorization header. Basic (the key as password) is for browsers, which can't send Bearer. */
export function readCredential(header: string | undefined, basicAllowed: boolean): string | undefined {
  if (header === undefined) return undefined;
  const [scheme = '', value = ''] = header.split(/\s+/, 2);
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic' || !basicAllowed) return '';
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}
