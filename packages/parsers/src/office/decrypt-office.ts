import { createDecipheriv, createHash, timingSafeEqual } from 'node:crypto';
import { type ParseLimits, SluiceError } from '@sluice/core';
import { readXml } from '../xml/xml-events.js';
import { child, childNodes } from '../xml/xml-node.js';
import { readStream } from './compound-file.js';

/** Rounds of hashing that are made for a password; Office makes 100,000. */
const MAX_SPINS = 10_000_000;
/** Office encrypts the package in segments of this many bytes. */
const SEGMENT = 4096;

/** Decrypts with one password; undefined when it is the wrong one. */
type Decrypt = (password: string) => Buffer | undefined;

/**
 * The package in an encrypted office file ([MS-OFFCRYPTO] 2.3.4, agile and standard encryption), with the first password that opens it.
 *
 * @throws SluiceError `password_required`, `corrupt`
 */
export async function decryptOffice(
  bytes: Uint8Array,
  name: string,
  passwords: readonly string[],
  limits: ParseLimits,
): Promise<Uint8Array> {
  const info = readStream(bytes, 'EncryptionInfo');
  const encrypted = readStream(bytes, 'EncryptedPackage');
  if (info === undefined || encrypted === undefined || info.length < 8 || encrypted.length < 8)
    throw new SluiceError('corrupt', `${name} is a damaged encrypted file`);
  const version = Buffer.from(info).readUInt16LE(2);
  const minor = Buffer.from(info).readUInt16LE(0);
  const decrypt = version === 4 && minor === 4 ? await agile(info, encrypted, limits) : standard(info, encrypted);
  for (const password of passwords) {
    const opened = decrypt(password);
    if (opened !== undefined) return opened;
  }
  throw new SluiceError(
    'password_required',
    `${name} is encrypted${passwords.length > 0 ? ' and none of the passwords opens it' : ''}; set passwords of its source in sluice.yaml`,
  );
}

function hash(algorithm: string, ...parts: readonly Uint8Array[]): Buffer {
  const digest = createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function spin(algorithm: string, salt: Uint8Array, password: string, count: number): Buffer {
  let digest = hash(algorithm, salt, Buffer.from(password, 'utf16le'));
  for (let round = 0; round < count; round++) digest = hash(algorithm, uint32(round), digest);
  return digest;
}

function fit(bytes: Buffer, length: number): Buffer {
  return bytes.length >= length ? bytes.subarray(0, length) : Buffer.concat([bytes, Buffer.alloc(length - bytes.length, 0x36)]);
}

function aes(mode: 'cbc' | 'ecb', key: Buffer, iv: Buffer | null, data: Uint8Array): Buffer {
  const decipher = createDecipheriv(`aes-${key.length * 8}-${mode}`, key, iv).setAutoPadding(false);
  return Buffer.concat([decipher.update(data), decipher.final()]);
}

function sizeOf(encrypted: Uint8Array): number {
  return Number(Buffer.from(encrypted.subarray(0, 8)).readBigUInt64LE());
}

const BLOCK_KEYS = {
  verifierInput: Buffer.from('fea7d2763b4b9e79', 'hex'),
  verifierValue: Buffer.from('d7aa0f6d3061344e', 'hex'),
  key: Buffer.from('146e0be7abacd0d6', 'hex'),
};

async function agile(info: Uint8Array, encrypted: Uint8Array, limits: ParseLimits): Promise<Decrypt> {
  const root = await readXml(
    (async function* () {
      yield info.subarray(8);
    })(),
    limits,
  );
  const data = child(root, 'keyData')?.attributes;
  const keyEncryptor = childNodes(child(root, 'keyEncryptors'), 'keyEncryptor').find(
    (node) => child(node, 'encryptedKey') !== undefined,
  );
  const own = child(keyEncryptor, 'encryptedKey')?.attributes;
  if (data === undefined || own === undefined) throw new SluiceError('corrupt', 'the description of the encryption is damaged');
  const value = (name: string): Buffer => Buffer.from(own[name] ?? '', 'base64');
  const algorithm = (own.hashAlgorithm ?? '').replace('-', '').toLowerCase();
  const dataAlgorithm = (data.hashAlgorithm ?? '').replace('-', '').toLowerCase();
  const keyLength = Number(own.keyBits) / 8;
  const spins = Number(own.spinCount);
  const isKnown = [algorithm, dataAlgorithm].every((candidate) => ['sha1', 'sha256', 'sha384', 'sha512'].includes(candidate));
  if (!isKnown || ![16, 24, 32].includes(keyLength) || !(spins >= 0 && spins <= MAX_SPINS))
    throw new SluiceError('corrupt', 'it is encrypted in a way that office programs do not use');
  return (password) => {
    const base = spin(algorithm, value('saltValue'), password, spins);
    const open = (blockKey: Buffer, secret: Buffer): Buffer =>
      aes('cbc', fit(hash(algorithm, base, blockKey), keyLength), fit(value('saltValue'), 16), secret);
    const input = open(BLOCK_KEYS.verifierInput, value('encryptedVerifierHashInput'));
    const expected = hash(algorithm, input);
    const actual = open(BLOCK_KEYS.verifierValue, value('encryptedVerifierHashValue')).subarray(0, expected.length);
    if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined;
    const key = open(BLOCK_KEYS.key, value('encryptedKeyValue')).subarray(0, Number(data.keyBits) / 8);
    const salt = Buffer.from(data.saltValue ?? '', 'base64');
    const body = encrypted.subarray(8);
    const parts: Buffer[] = [];
    for (let segment = 0; segment * SEGMENT < body.length; segment++) {
      const part = body.subarray(segment * SEGMENT, (segment + 1) * SEGMENT);
      const whole = part.subarray(0, part.length - (part.length % 16));
      parts.push(aes('cbc', key, fit(hash(dataAlgorithm, salt, uint32(segment)), 16), whole));
    }
    return Buffer.concat(parts).subarray(0, sizeOf(encrypted));
  };
}

/** Rounds that standard encryption makes. */
const STANDARD_SPINS = 50_000;

function standard(info: Uint8Array, encrypted: Uint8Array): Decrypt {
  const buffer = Buffer.from(info);
  const headerSize = buffer.length >= 12 ? buffer.readUInt32LE(8) : 0;
  const verifier = 12 + headerSize;
  if (headerSize < 20 || verifier + 72 > buffer.length)
    throw new SluiceError('corrupt', 'the description of the encryption is damaged');
  const keyLength = (buffer.readUInt32LE(12 + 16) || 128) / 8;
  const salt = buffer.subarray(verifier + 4, verifier + 20);
  const secret = buffer.subarray(verifier + 20, verifier + 36);
  const secretHash = buffer.subarray(verifier + 40, verifier + 72);
  if (![16, 24, 32].includes(keyLength))
    throw new SluiceError('corrupt', 'it is encrypted in a way that office programs do not use');
  return (password) => {
    const final = hash('sha1', spin('sha1', salt, password, STANDARD_SPINS), uint32(0));
    const padded = (byte: number): Buffer =>
      hash(
        'sha1',
        Buffer.alloc(64, byte).map((value, index) => value ^ (final[index] ?? 0)),
      );
    const key = Buffer.concat([padded(0x36), padded(0x5c)]).subarray(0, keyLength);
    const expected = hash('sha1', aes('ecb', key, null, secret));
    if (!timingSafeEqual(aes('ecb', key, null, secretHash).subarray(0, 20), expected)) return undefined;
    const body = encrypted.subarray(8);
    return aes('ecb', key, null, body.subarray(0, body.length - (body.length % 16))).subarray(0, sizeOf(encrypted));
  };
}
