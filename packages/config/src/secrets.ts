import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';

/** Files of `<data folder>/secrets`, each with one line. */
export type SecretName = 'weaviate-key' | 'weaviate-cluster' | 'redis-password' | 'operator-token' | 'key-signing';

/** Folder of the instance's secrets. */
export function secretsFolder(dataFolder: string): string {
  return join(dataFolder, 'secrets');
}

/** Makes the data folder, for this user alone. A folder that somebody else owns (a mounted volume) keeps its mode. */
export function makeDataFolder(dataFolder: string): void {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  narrow(dataFolder, 0o700);
}

/**
 * The stored secret; undefined where there is no such file.
 *
 * @throws SluiceError `invalid_configuration` when the file can't be read or is empty: a new secret would lock the instance out of its data
 */
export function readSecret(dataFolder: string, name: SecretName): string | undefined {
  const path = join(secretsFolder(dataFolder), name);
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (text === '') throw new Error('it is empty');
    return text;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw unusable(path, cause);
  }
}

/**
 * The secret, made at random (256 bits, letters of base64url) when there is none. Processes that make it at the same time agree on one.
 *
 * @throws SluiceError `invalid_configuration` when the data folder can't keep it
 */
export function ensureSecret(dataFolder: string, name: SecretName): string {
  const folder = secretsFolder(dataFolder);
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    narrow(folder, 0o700);
    const kept = readSecret(dataFolder, name);
    if (kept === undefined) publish(path);
    narrow(path, 0o600);
    return kept ?? readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw cause instanceof SluiceError ? cause : unusable(path, cause);
  }
}

function unusable(path: string, cause: unknown): SluiceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = 'check its permissions, or restore it from a backup';
  return new SluiceError('invalid_configuration', `the secret ${path} can't be read or made (${reason}); ${advice}`, { cause });
}

/** Writes a file for this user alone, and whole: a reader never sees half of it. */
export function writeSecretFile(dataFolder: string, name: string, content: string): string {
  const folder = secretsFolder(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  rmSync(path, { force: true });
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** A link is made whole or not at all, and never over another file: the first of several processes wins. */
function publish(path: string): void {
  const partial = `${path}.${process.pid}.tmp`;
  rmSync(partial, { force: true });
  writeFileSync(partial, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(partial, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(partial, { force: true });
  }
}

function narrow(path: string, mode: number): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error;
  }
}
