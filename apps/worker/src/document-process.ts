import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { chunkDocument } from '@sluice/chunking';
import { type Embedder, type ParsedDocument, type ReadResult, SluiceError, type Tokenizer, toSluiceError } from '@sluice/core';
import { createTokenizer } from '@sluice/models';
import { createParserRegistry } from '@sluice/parsers';
import type { FromProcess, ProcessOptions, ToProcess } from './document-messages.js';
import { gapsOf, pagesOf } from './read-result.js';

/** Chunks per message. */
const SLICE = 500;

/**
 * The process that parses and chunks, one document at a time. It holds nothing that outlives it: the worker may kill it whenever a
 * document takes too long or too much, and start another.
 */
async function main(options: ProcessOptions): Promise<void> {
  const registry = createParserRegistry();
  const tokenizer = await createTokenizer({ folder: options.modelFolder });
  const embedder = remoteEmbedder(options);
  process.on('message', (message: ToProcess) => {
    if (message.type === 'read') void read(registry, tokenizer, embedder, message.request);
  });
  // Without its worker there is nobody to answer to.
  process.on('disconnect', () => process.exit(0));
  send({ type: 'ready' });
}

async function read(
  registry: ReturnType<typeof createParserRegistry>,
  tokenizer: Tokenizer,
  embedder: Embedder,
  request: Extract<ToProcess, { type: 'read' }>['request'],
): Promise<void> {
  try {
    const bytes = await readBytes(request.path, request.limits.fileBytes);
    const contentHash = createHash('sha256').update(bytes).digest('hex');
    const document = await registry.parse({
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
    const { chunks, dropped } = await chunkDocument(document, request.chunking, { tokenizer, embedder });
    for (let at = 0; at < chunks.length; at += SLICE) await deliver({ type: 'chunks', chunks: chunks.slice(at, at + SLICE) });
    await deliver({
      type: 'done',
      result: restOf(document, bytes.byteLength, contentHash, gapsOf(document.text, chunks), dropped),
    });
  } catch (thrown) {
    const { code, kind, message, details } = toSluiceError(thrown, 'internal', request.docId);
    send({ type: 'failed', error: { code, kind, message, ...(details === undefined ? {} : { details }) } });
  }
}

async function readBytes(path: string, limit: number): Promise<Uint8Array> {
  try {
    const { size } = await stat(path);
    if (size > limit)
      throw new SluiceError('too_large', `${path} has ${size} bytes, over limits.file_mb; raise it or split the file`);
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    throw new SluiceError('unreadable', `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function restOf(
  document: ParsedDocument,
  bytes: number,
  contentHash: string,
  gaps: ReadResult['gaps'],
  dropped: ReadResult['dropped'],
): Omit<ReadResult, 'chunks'> {
  return {
    contentHash,
    bytes,
    format: document.format,
    length: document.text.length,
    gaps,
    pages: pagesOf(document),
    metadata: document.metadata,
    warnings: document.warnings,
    dropped,
    ...(document.frontMatter === undefined ? {} : { frontMatter: document.frontMatter }),
    ...(document.lang === undefined ? {} : { lang: document.lang }),
  };
}

/** The worker's embedder, asked by message: the model is loaded once, in the worker's threads. */
function remoteEmbedder({ embedder }: ProcessOptions): Embedder {
  const calls = new Map<number, { resolve: (vectors: Float32Array[]) => void; reject: (cause: unknown) => void }>();
  let next = 0;
  process.on('message', (message: ToProcess) => {
    if (message.type === 'read') return;
    const call = calls.get(message.call);
    calls.delete(message.call);
    if (message.type === 'embedded') call?.resolve(message.vectors);
    else call?.reject(new SluiceError(message.error.code, message.error.message, { kind: message.error.kind }));
  });
  return {
    ...embedder,
    embed(texts) {
      next += 1;
      const call = next;
      return new Promise((resolve, reject) => {
        calls.set(call, { resolve, reject });
        send({ type: 'embed', call, texts: [...texts] });
      });
    },
  };
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

await main(JSON.parse(process.argv[2] ?? '{}') as ProcessOptions);
