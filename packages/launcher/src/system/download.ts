import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SluiceError } from '@sluice/core';
import type { Workplace } from './workplace.js';

/** An address that has not answered after this long is given up, so that the next step's turn comes within seconds. */
const ANSWER_MS = 5_000;
/** A download that brings no byte for this long is given up. */
const STALL_MS = 30_000;

/** Asks an address and gives the answer's body as it arrives. Any failure is `not_ready` with a reason in a few words. */
async function request(url: string, workplace: Workplace): Promise<{ response: Response; abort: AbortController }> {
  if (workplace.offline) throw new SluiceError('not_ready', 'SLUICE_OFFLINE=1 forbids downloads');
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ANSWER_MS);
  const onAbort = () => abort.abort();
  workplace.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok) throw new SluiceError('not_ready', `${new URL(url).host} answered ${response.status} to ${url}`);
    return { response, abort };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError('not_ready', `${new URL(url).host} can't be reached (${reasonOf(error, abort.signal.aborted)})`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    workplace.signal?.removeEventListener('abort', onAbort);
  }
}

function reasonOf(error: unknown, timedOut: boolean): string {
  if (timedOut) return `no answer within ${ANSWER_MS / 1000} s`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}

/** A small text, as a checksum file. */
export async function downloadText(url: string, workplace: Workplace): Promise<string> {
  const { response } = await request(url, workplace);
  return response.text();
}

/** Downloads to `path`, complete or not at all, and checks the sha256 when one is given. Tells its progress in tenths. */
export async function downloadFile(
  url: string,
  path: string,
  options: { workplace: Workplace; sha256?: string; label: string },
): Promise<void> {
  const { workplace, label } = options;
  const { response, abort } = await request(url, workplace);
  if (response.body === null) throw new SluiceError('not_ready', `${url} has no content`);
  const total = Number(response.headers.get('content-length') ?? 0);
  const partial = `${path}.${process.pid}.part`;
  await mkdir(dirname(path), { recursive: true });
  let stall = setTimeout(() => abort.abort(), STALL_MS);
  let received = 0;
  let toldTenths = 0;
  try {
    // Opened before anything can fail: an opening that is still under way then would make the file after its removal.
    const file = await open(partial, 'w');
    const body = Readable.fromWeb(response.body as import('node:stream/web').ReadableStream<Uint8Array>);
    body.on('data', (bytes: Uint8Array) => {
      clearTimeout(stall);
      stall = setTimeout(() => abort.abort(), STALL_MS);
      received += bytes.length;
      const tenths = total > 1_000_000 ? Math.floor((received / total) * 10) : 0;
      if (tenths > toldTenths) workplace.say(`${label}: ${tenths * 10} % of ${Math.round(total / 1_000_000)} MB`);
      toldTenths = Math.max(toldTenths, tenths);
    });
    await pipeline(body, file.createWriteStream());
    if (options.sha256 !== undefined) await checkSha256(partial, options.sha256, url);
    await rename(partial, path);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError('not_ready', `the download of ${url} broke off (${reasonOf(error, false)})`, { cause: error });
  } finally {
    clearTimeout(stall);
    await rm(partial, { force: true });
  }
}

/** sha256 of a file in lower-case hex, read as a stream. */
async function fileSha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Error `not_ready` when the file is not the one that was expected. */
export async function checkSha256(path: string, expected: string, origin: string): Promise<void> {
  const found = await fileSha256(path);
  if (found !== expected.toLowerCase()) {
    throw new SluiceError('not_ready', `checksum of ${origin} differs: expected sha256 ${expected}, got ${found}`);
  }
}
