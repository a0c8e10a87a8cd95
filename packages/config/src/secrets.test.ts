import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureSecret, readSecret } from './secrets.js';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
});
afterEach(() => rmSync(data, { recursive: true }));

describe('a secret', () => {
  it('is made once, for this user alone', () => {
    expect(readSecret(data, 'weaviate-key')).toBeUndefined();
    const made = ensureSecret(data, 'weaviate-key');
    expect(made).toMatch(/^[\w-]{43}$/);
    expect(ensureSecret(data, 'weaviate-key')).toBe(made);
    expect(readSecret(data, 'weaviate-key')).toBe(made);
    expect(statSync(join(data, 'secrets', 'weaviate-key')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['cannot be read', (path: string) => mkdirSync(path)],
    ['is empty', (path: string) => writeFileSync(path, '\n')],
  ])('that %s is reported, not taken for a missing one', (_, spoil) => {
    mkdirSync(join(data, 'secrets'));
    spoil(join(data, 'secrets', 'weaviate-key'));
    const refused = expect.objectContaining({ code: 'invalid_configuration' });
    expect(() => readSecret(data, 'weaviate-key')).toThrow(refused);
    expect(() => ensureSecret(data, 'weaviate-key')).toThrow(refused);
  });
});
