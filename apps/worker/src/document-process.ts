import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ChunkingDeps, chunkDocument, createChunkingCaches } from '@sluice/chunking';
import {
  type DroppedFact,
  fileFaultKind,
  type ParsedDocument,
  type ReadRequest,
  type ReadResult,
  SluiceError,
} from '@sluice/core';
import { openTokenizer } from '@sluice/models';
import { createParserRegistry } from '@sluice/parsers';
import type { FromProcess, ProcessOptions, ToProcess } from './document-messages.js';
import { gapsOf, pagesOf } from './read-result.js';
import { toWire } from './wire-error.js';
import { createWorkerCalls, type WorkerCalls } from './worker-calls.js';

/** Chunks per message. */
const SLICE = 500;

/**
 * The process that parses and chunks, one document at a time. It holds nothing that may not be lost: the worker may kill it whenever a
 * document takes too long or too much, and start another.
 */
function main(options: ProcessOptions): void {
  const worker = createWorkerCalls(options, send);
  let opening: Promise<Deps> | undefined;
  const open = () => {
    opening ??= openDeps(options, worker).then(
      (deps) => {
        send({ type: 'ready' });
        return deps;
      },
      (thrown: unknown) => {
        opening = undefined;
        throw thrown;
      },
    );
    return opening;
  };
  // Ahead of the first document; a fault is told to those that come.
  open().catch(() => {});
  // The one listener, for the whole life of the process. Node keeps messages until there is a listener and then hands them all out,
  // whether or not the listener is still there: what arrives behind a `once` is lost, and its document waits for nothing.
  process.on('message', (message: ToProcess) => {
    if (message.type === 'read') void read(open, message.request);
    else worker.settle(message);
  });
  // Without its worker there is nobody to answer to.
  process.on('disconnect', () => process.exit(0));
}

interface Deps extends ChunkingDeps {
  registry: ReturnType<typeof createParserRegistry>;
}

async function openDeps(options: ProcessOptions, { embedder, llm, facts }: WorkerCalls): Promise<Deps> {
  return {
    registry: createParserRegistry(),
    tokenizer: await openTokenizer(options.tokenizer),
    // An edit then costs what it changes: token counts and vectors of the other sentences are known, and their facts to the worker.
    ...createChunkingCaches(),
    embedder,
    llm,
    facts,
  };
}

async function read(open: () => Promise<Deps>, request: Extract<ToProcess, { type: 'read' }>['request']): Promise<void> {
  try {
    const deps = await open();
    const bytes = await readBytes(request, request.limits.fileBytes);
    const contentHash = createHash('sha256').update(bytes).digest('hex');
    const document = await deps.registry.parse({
      bytes,
      name: basename(request.path),
      limits: request.limits,
      ...(request.passwords === undefined ? {} : { passwords: request.passwords }),
      ...(request.settings === undefined ? {} : { settings: request.settings }),
      onProgress: (share) => send({ type: 'progress', share: share / 2 }),
    });
    if (document.text.length > request.limits.textUnits) {
      throw new SluiceError(
        'limit_exceeded',
        `the text has ${document.text.length} characters, over limits.text_mb; raise it or split the file`,
      );
    }
    const { chunks, ...rest } = await chunkDocument(document, request.chunking, { ...deps, docId: request.docId });
    let at = 0;
    for (; chunks.length - at > SLICE; at += SLICE) await deliver({ type: 'chunks', chunks: chunks.slice(at, at + SLICE) });
    await deliver({
      type: 'done',
      result: {
        ...describe(document, bytes.byteLength, contentHash),
        ...rest,
        chunks: chunks.slice(at),
        gaps: gapsOf(document.text, chunks),
        warnings: [...document.warnings, ...warnOfDropped(rest.dropped)],
      },
    });
  } catch (thrown) {
    send({ type: 'failed', error: toWire(thrown, 'internal', request.docId) });
  }
}

/** Opened once, so that what was compared is what is read. Windows has no flag against links; there the comparison stands alone. */
async function readBytes({ path, found }: Pick<ReadRequest, 'path' | 'found'>, limit: number): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await openFile(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { size, ino, dev } = await file.stat({ bigint: true });
    if (found !== undefined && (String(ino) !== found.inode || (found.device !== undefined && String(dev) !== found.device))) {
      throw Object.assign(new Error('ESTALE: another file has taken its place'), { code: 'ESTALE' });
    }
    if (size > limit)
      throw new SluiceError('too_large', `${path} has ${size} bytes, over limits.file_mb; raise it or split the file`);
    return await file.readFile();
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    throw new SluiceError('unreadable', `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
      kind: fileFaultKind(cause),
    });
  } finally {
    await file?.close();
  }
}

function describe(
  document: ParsedDocument,
  bytes: number,
  contentHash: string,
): Omit<ReadResult, 'chunks' | 'gaps' | 'warnings' | 'dropped' | 'usage'> {
  return {
    contentHash,
    bytes,
    format: document.format,
    length: document.text.length,
    pages: pagesOf(document),
    metadata: document.metadata,
    ...(document.frontMatter === undefined ? {} : { frontMatter: document.frontMatter }),
    ...(document.lang === undefined ? {} : { lang: document.lang }),
    ...(document.unfinished === undefined ? {} : { unfinished: document.unfinished }),
  };
}

function warnOfDropped({ length }: readonly DroppedFact[]): string[] {
  if (length === 0) return [];
  const facts = length === 1 ? '1 fact of the language model was' : `${length} facts of the language model were`;
  return [`${facts} not borne out by the text and dropped: see chunks?dropped=true`];
}

function send(message: FromProcess): void {
  process.send?.(message);
}

/** Waits until the channel took the message, so that slices do not pile up in memory. */
function deliver(message: FromProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) return resolve();
    process.send(message, undefined, {}, (error) => (error === null ? resolve() : reject(error)));
  });
}

main(JSON.parse(process.argv[2] ?? '{}') as ProcessOptions);
