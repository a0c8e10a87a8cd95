import { setImmediate as nextTurn } from 'node:timers/promises';
import { SluiceError } from '@sluice/core';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { EmbeddingModel } from './embedding-model.js';
import { engineVersion, modelFiles } from './model-files.js';
import { startModelProcess } from './model-host.js';
import type { Pooling } from './model-profile.js';
import { countPrefix, prefixId } from './prefix.js';
import type { ModelInput, ThreadSettings } from './thread-messages.js';
import { createThreadPool, type ThreadPool } from './thread-pool.js';
import { createTokenizer, type ModelTokenizer } from './tokenizer.js';
import { tokenizerHash } from './tokenizer-file.js';
import { usableCores } from './usable-cores.js';

/** More sessions than this cost memory without a use on the machines this runs on. */
const MAX_AUTO_THREADS = 8;
/** Texts tokenized before the event loop gets a turn: a few milliseconds. */
const TEXTS_A_TURN = 128;

export interface EmbedderOptions {
  /** The model's folder, as `.../Xenova/all-MiniLM-L6-v2`. */
  folder: string;
  /** Processes, each with a session of one thread; `auto`: the number of cores, at most 8. */
  threads: number | 'auto';
  /** Default: what the model was trained on. */
  maxTokens?: number;
  /** Put before every passage, and before every query, as `passage: ` and `query: ` of E5. Default: nothing. */
  passagePrefix?: string | undefined;
  queryPrefix?: string | undefined;
  /** Default: mean. */
  pooling?: Pooling | undefined;
  /** Its processes yield the processor to others. */
  background?: boolean | undefined;
  /** Counts the texts that were run. A process that only embeds queries passes none. */
  metrics?: Pick<Metrics, 'embeddingsComputed'>;
  logger?: Logger;
}

/** A model with processes of its own. */
export interface LocalEmbedder extends EmbeddingModel {
  readonly kind: ModelTokenizer['kind'];
  /** Models loaded and threads lost so far. */
  stats(): { threads: number; loads: number; deaths: number };
}

/**
 * Loads an embedding model into processes; resolves once each has loaded it. One text a run on a session of one thread: with an
 * int8 model a text's vector depends on its batch, and so run it is the same on one machine and engine whatever runs beside it.
 * Vectors have length 1.
 *
 * Errors: `model_unavailable` when the folder holds no such model.
 */
export async function createEmbedder(options: EmbedderOptions): Promise<LocalEmbedder> {
  const { folder, passagePrefix = '', queryPrefix = '', pooling = 'mean' } = options;
  const [files, tokenizer, id] = await Promise.all([
    modelFiles(folder),
    createTokenizer(options),
    localModelId(folder, { pooling, passagePrefix }),
  ]);
  const prefixes = { passage: tokenizer.pieces(passagePrefix), query: tokenizer.pieces(queryPrefix) };
  const pool = await startModelThreads(
    { task: 'embed', modelPath: files.path, pooling, background: options.background === true },
    options,
  );
  return {
    kind: tokenizer.kind,
    id,
    dimensions: files.dimensions,
    maxTokens: tokenizer.maxTokens,
    tokenizer: countPrefix(tokenizer, passagePrefix),
    queryTokenizer: countPrefix(tokenizer, queryPrefix),
    async embed(texts, signal, { urgent = false, as = 'passage' } = {}) {
      const inputs: ModelInput[] = [];
      for (const text of texts) {
        if (inputs.length % TEXTS_A_TURN === TEXTS_A_TURN - 1) await nextTurn();
        signal?.throwIfAborted();
        const ids = tokenizer.encode(text, prefixes[as]);
        if (ids.length > tokenizer.maxTokens) {
          throw new SluiceError(
            'limit_exceeded',
            `Text ${inputs.length + 1} of ${texts.length} has ${ids.length} word pieces, the model takes ${tokenizer.maxTokens}: split it.`,
            { details: { tokens: ids.length, max_tokens: tokenizer.maxTokens } },
          );
        }
        inputs.push({ ids });
      }
      const vectors = await pool.run(inputs, { urgent, ...(signal === undefined ? {} : { signal }) });
      options.metrics?.embeddingsComputed.inc(vectors.length);
      return vectors;
    },
    stats: pool.stats,
    close: pool.close,
  };
}

/** Starts processes that run a graph; resolves once all have loaded it. */
export async function startModelThreads(
  settings: ThreadSettings,
  options: Pick<EmbedderOptions, 'threads' | 'logger'>,
): Promise<ThreadPool> {
  const pool = createThreadPool({
    threads: options.threads === 'auto' ? Math.min(usableCores(), MAX_AUTO_THREADS) : options.threads,
    start: () => startModelProcess(settings),
    onDeath: (reason) => options.logger?.warn({ reason }, 'a model process died and is replaced'),
  });
  try {
    await pool.ready();
  } catch (thrown) {
    await pool.close();
    throw thrown;
  }
  return pool;
}

/** The id that an embedder of this folder has, without loading the model. It follows from what the files hold, not from where they lie. */
export async function localModelId(
  folder: string,
  { pooling = 'mean', passagePrefix = '' }: { pooling?: Pooling | undefined; passagePrefix?: string | undefined },
): Promise<string> {
  const [{ sha256 }, tokenizer] = await Promise.all([modelFiles(folder), tokenizerHash(folder)]);
  return `${sha256}:${tokenizer}:${engineVersion()}:${pooling}:${prefixId(passagePrefix)}`;
}
