import { createHash, randomBytes } from 'node:crypto';

/**
 * Builds the doc_id of a file: `<source>/<relative path>` with forward slashes, in the on-disk spelling.
 * The source's name may not contain a slash (the configuration checks it), so the first slash parts the two.
 */
export function makeDocId(source: string, sourcePath: string): string {
  return `${source}/${sourcePath}`;
}

/** Parts a doc_id into its source and its path relative to that source's root. */
export function splitDocId(docId: string): { source: string; sourcePath: string } {
  const slash = docId.indexOf('/');
  if (slash <= 0) throw new RangeError(`not a doc_id: ${docId}`);
  return { source: docId.slice(0, slash), sourcePath: docId.slice(slash + 1) };
}

/** Whether {@link splitDocId} can part it. */
export function isDocId(text: string): boolean {
  return text.indexOf('/') > 0;
}

/** Hex digits of a doc_id's hash with which every object of the document begins: see {@link docUuid}. */
const PREFIX_BYTES = 8;

function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Sets the version (8, custom: RFC 9562 section 5.8) and variant bits. */
function asVersion8(bytes: Buffer): Buffer {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}

/** The UUID of a document: the first 16 bytes of sha256(doc_id) as a version 8 UUID. Stable for as long as the path is. */
export function docUuid(docId: string): string {
  return formatUuid(asVersion8(createHash('sha256').update(docId, 'utf8').digest().subarray(0, 16)));
}

/**
 * The UUID of an object that belongs to a document: its first half is that of the document's UUID, so that a walk in uuid order
 * passes document by document; its second half is a hash of the parts. The same parts always give the same UUID, so that a
 * write whose answer was lost can be repeated and recognised.
 */
export function objectUuid(documentUuid: string, ...parts: readonly (string | number)[]): string {
  const head = Buffer.from(documentUuid.replaceAll('-', ''), 'hex').subarray(0, PREFIX_BYTES);
  const tail = createHash('sha256').update(parts.join('\u0000'), 'utf8').digest().subarray(0, PREFIX_BYTES);
  return formatUuid(asVersion8(Buffer.concat([head, tail])));
}

/** The part of a uuid in which all objects of a document agree. */
const SHARED_DIGITS = 18;

/** What all ids of a document's objects begin with, hyphens included. */
export function documentPrefix(uuid: string): string {
  return uuid.slice(0, SHARED_DIGITS);
}

/** Whether {@link objectUuid} can have made this id for the document: an object of another was put into the store by somebody else. */
export function isOfDocument(id: string, documentUuid: string): boolean {
  return documentPrefix(id) === documentPrefix(documentUuid);
}

/** A random version 8 UUID: one per attempt to write a document. */
export function attemptUuid(): string {
  return formatUuid(asVersion8(randomBytes(16)));
}

/** sha256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** sha256 of a JSON value whose object keys are sorted: equal values give equal hashes whatever the order of their keys. */
export function hashOf(value: unknown): string {
  return sha256(canonicalJson(value));
}

/** JSON with sorted keys; undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
