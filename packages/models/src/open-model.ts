import { setTimeout as sleep } from 'node:timers/promises';
import { SluiceError, sha256, type Tokenizer } from '@sluice/core';
import type { Logger, Metrics } from '@sluice/telemetry';
import { createEmbedder, localModelId } from './embedder.js';
import { createEmbeddingEndpoint, type EmbeddingEndpoint } from './embedding-endpoint.js';
import type { EmbeddingModel } from './embedding-model.js';
import { type Pooling, readProfile } from './model-profile.js';
import { createPlainTokenizer } from './plain-tokenizer.js';
import { countPrefix, prefixId } from './prefix.js';
import { createTokenizer, modelTokens } from './tokenizer.js';
import { tokenizerHash } from './tokenizer-file.js';

/** First and longest pause between two questions to an endpoint that is away at the start. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** How long a request for a question may take, and how an endpoint is called for it. */
const QUESTION_MS = 5000;
const FOR_QUESTIONS = { attempts: 2, backoffMs: 100, longestWaitMs: 1000 };

/** Which model makes the vectors, and how. */
export interface ModelChoice {
  model: string;
  /** Folder of the model's files; of an endpoint's model that of its tokenizer, where it is known. */
  folder?: string | undefined;
  threads: number | 'auto';
  maxTokens?: number | undefined;
  passagePrefix?: string | undefined;
  queryPrefix?: string | undefined;
  /** Of a model that runs here. */
  pooling?: Pooling | undefined;
  endpoint?: EndpointChoice | undefined;
}

/** An embedding endpoint and how it is called. */
export interface EndpointChoice {
  baseUrl: string;
  apiKey?: string | undefined;
  dimensions?: number | undefined;
  batch: number;
  concurrency: number;
  timeoutMs: number;
  pricePerMillionTokens: number;
}

/** What tells one model from another. */
export interface ModelIdentity {
  /**
   * Changes with everything that decides a vector: weights, tokenizer, engine, pooling, passage prefix; of an endpoint its model's
   * name, the dimensions asked for and the passage prefix.
   */
  id: string;
  /** Identity of what counts tokens, and so decides the chunks. */
  tokenizer: string;
  /** Key of the store's collections: the model's name and a hash of `id`. */
  collection: string;
}

/**
 * A choice with what the files of a model that runs here say of its use, where the configuration does not: pooling and prefixes.
 * Errors: `model_unavailable` for a use that is not supported.
 */
export async function resolveModel(choice: ModelChoice): Promise<ModelChoice> {
  if (choice.endpoint !== undefined || choice.folder === undefined) return choice;
  const { pooling, passagePrefix, queryPrefix } = await readProfile(choice.folder);
  return {
    ...choice,
    pooling: choice.pooling ?? pooling,
    passagePrefix: choice.passagePrefix ?? passagePrefix,
    queryPrefix: choice.queryPrefix ?? queryPrefix,
  };
}

/**
 * The identity of a model, without loading it: processes that only compare fingerprints need no more.
 * Errors: `model_unavailable` when the folder holds no such model.
 */
export async function modelIdentity(choice: ModelChoice): Promise<ModelIdentity> {
  const { model, folder, endpoint } = choice;
  const tokenizer = folder === undefined ? (await openTokenizer(choice)).id : await tokenizerHash(folder);
  const id =
    endpoint === undefined
      ? await localModelId(requireFolder(choice), choice)
      : `${model}@endpoint:${endpoint.dimensions ?? 'any'}:${prefixId(choice.passagePrefix ?? '')}`;
  return { id, tokenizer, collection: `${model}-${sha256(id).slice(0, 10)}` };
}

/** What counts tokens where texts are cut: the model's tokenizer, or a careful estimate where that is not known. */
export async function openTokenizer(choice: Omit<ModelChoice, 'threads' | 'endpoint'>): Promise<Tokenizer> {
  return countPrefix(await plainTokenizer(choice), choice.passagePrefix ?? '');
}

async function plainTokenizer({
  folder,
  maxTokens,
  model,
}: Pick<ModelChoice, 'folder' | 'maxTokens' | 'model'>): Promise<Tokenizer> {
  if (folder === undefined) return createPlainTokenizer(maxTokens ?? modelTokens(model, undefined));
  return createTokenizer({ folder, ...(maxTokens === undefined ? {} : { maxTokens }) });
}

export interface OpenModelOptions {
  /** Processes of a model that runs here, in place of the configured number. */
  threads?: number;
  /** For questions, whose asker waits: an endpoint has two tries of five seconds, and its pauses are not waited for. */
  urgent?: boolean;
  /** A model that runs here yields the processor to others. */
  background?: boolean;
  /** Whether the limit is checked at the endpoint: costs the tokens of two longest texts. */
  checksLimit?: boolean;
  metrics?: Pick<Metrics, 'embeddingsComputed' | 'embeddingRequests' | 'embeddingTokens' | 'embeddingCost'>;
  logger?: Logger;
}

/**
 * Opens the configured model. An endpoint is asked at once: a wrong key, address, model or length of vectors is an error now. One that
 * is away is waited for where the configuration does not say its dimensions; else it is found out by the first texts.
 *
 * Errors: `model_unavailable`, `invalid_configuration`.
 */
export async function openModel(choice: ModelChoice, options: OpenModelOptions): Promise<EmbeddingModel> {
  const { logger, metrics } = options;
  if (choice.endpoint === undefined) {
    const embedder = await createEmbedder({
      folder: requireFolder(choice),
      threads: options.threads ?? choice.threads,
      ...(choice.maxTokens === undefined ? {} : { maxTokens: choice.maxTokens }),
      passagePrefix: choice.passagePrefix,
      queryPrefix: choice.queryPrefix,
      pooling: choice.pooling,
      background: options.background,
      ...(metrics === undefined ? {} : { metrics }),
      ...(logger === undefined ? {} : { logger }),
    });
    const { kind: tokenizer, maxTokens: max_tokens, dimensions } = embedder;
    const { model, pooling, passagePrefix: passage_prefix, queryPrefix: query_prefix } = choice;
    logger?.info({ model, tokenizer, pooling, max_tokens, dimensions, passage_prefix, query_prefix }, 'embedding model is ready');
    return embedder;
  }
  const { id } = await modelIdentity(choice);
  const { passagePrefix, queryPrefix, model } = choice;
  const tokenizer = await plainTokenizer(choice);
  const endpoint = createEmbeddingEndpoint({
    ...choice.endpoint,
    ...(options.urgent === true ? { ...FOR_QUESTIONS, timeoutMs: Math.min(QUESTION_MS, choice.endpoint.timeoutMs) } : {}),
    model,
    id,
    tokenizer,
    passagePrefix,
    queryPrefix,
    metrics,
    logger,
  });
  await checkEndpoint(endpoint, choice.endpoint, options);
  return endpoint;
}

async function checkEndpoint(
  endpoint: EmbeddingEndpoint,
  choice: EndpointChoice,
  { checksLimit = false, logger }: OpenModelOptions,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      await endpoint.checkReady();
      if (checksLimit) await endpoint.checkLimit();
      return;
    } catch (thrown) {
      if (!(thrown instanceof SluiceError)) throw thrown;
      if (!isAway(thrown)) throw new SluiceError('invalid_configuration', thrown.message, { cause: thrown });
      logger?.warn({ cause: thrown.message }, 'the embedding endpoint is away');
      if (choice.dimensions !== undefined) return;
      await sleep(pause);
    }
  }
}

/** No answer, too many requests or a fault of the server: it may pass. Every other answer is one to the configuration. */
function isAway({ code, details }: SluiceError): boolean {
  if (code !== 'embed_failed' || details?.dimensions !== undefined) return false;
  const status = details?.status;
  return typeof status !== 'number' || status === 429 || status === 408 || status >= 500;
}

function requireFolder({ model, folder }: ModelChoice): string {
  if (folder !== undefined) return folder;
  throw new SluiceError('model_unavailable', `no folder of the model ${model} is known: set embedding.path or SLUICE_MODEL`);
}
