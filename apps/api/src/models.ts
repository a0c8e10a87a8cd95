import { statfs } from 'node:fs/promises';
import { type Config, generationOf, type InstanceGenerations, loadConfig, modelChoice } from '@sluice/config';
import { type Clock, SluiceError } from '@sluice/core';
import { compareIndexes } from '@sluice/ingestion';
import {
  abortBuild,
  beginBuild,
  followingGenerations,
  type Generation,
  type Generations,
  type ModelChoice,
  modelIdentity,
  resolveModel,
  rollBack,
} from '@sluice/models';
import { createStore } from '@sluice/store';

/** What the index of a model is built from beside vectors, in bytes a chunk: text, properties, inverted index. */
const BYTES_A_CHUNK = 4096;
/** Bytes that a dimension takes: the vector, and its part of the graph. */
const BYTES_A_DIMENSION = 8;
/** Where the length of vectors is not known beforehand. */
const USUAL_DIMENSIONS = 1024;

/** The models of the instance. Times are Unix milliseconds. */
interface ModelStatus {
  live: { model: string; collection: string };
  /** Being built; counts are of documents of the live index. */
  next?: {
    model: string;
    collection: string;
    since: number;
    documents: number;
    done: number;
    failed: number;
    remaining_s?: number;
  };
  /** Answers again by a rollback, until then. */
  previous?: { model: string; collection: string; until: number };
  /** Collections of models that nothing uses. */
  unused: string[];
}

/** What operators do with models. */
export interface ModelControl {
  status(): Promise<ModelStatus>;
  /** @param folder of the model's files; without it the model is the one that sluice.yaml names now. Errors: `invalid_request`, `conflict` */
  build(wanted: { model: string; folder?: string | undefined }): Promise<void>;
  abort(): Promise<void>;
  rollBack(): Promise<void>;
  /** Removes the collections that nothing uses; their names. */
  prune(): Promise<string[]>;
}

export interface ModelControlDeps {
  config: Config;
  env: Parameters<typeof loadConfig>[0]['env'];
  weaviate: { url: string; apiKey: string | undefined };
  generations: InstanceGenerations;
  /** What this API answers with. */
  answering: Generation;
  clock: Clock;
}

export function createModelControl({ config, env, weaviate, generations, answering, clock }: ModelControlDeps): ModelControl {
  const { namespace, dataFolder } = config.runtime;

  function recordsOf({ collection }: Generation) {
    return createStore({ ...weaviate, namespace, collection, dimensions: 0, fields: config.schema.fields });
  }

  async function change(next: (now: number, state: Generations) => Generations): Promise<void> {
    const { version, state } = await generations.read();
    const changed = next(clock.now(), state);
    if (changed !== state) await generations.write(version, changed);
  }

  async function unusedOf(state: Generations): Promise<string[]> {
    const used = [...followingGenerations(state), ...state.doomed].flatMap(({ collection }) =>
      generations.store.namesOf(collection),
    );
    return (await generations.store.collections()).filter((name) => !used.includes(name));
  }

  /** The model as its folder says it is used, or as sluice.yaml says now. */
  async function choose(
    model: string,
    folder: string | undefined,
  ): Promise<{ choice: ModelChoice; apiKeyEnv?: string | undefined }> {
    const { embedding } = loadConfig({ env, cwd: process.cwd() });
    const isConfigured = embedding.model === model;
    if (folder !== undefined) {
      const { threads, maxTokens, pooling, passagePrefix, queryPrefix } = embedding;
      const settings = isConfigured && embedding.endpoint === undefined ? { maxTokens, pooling, passagePrefix, queryPrefix } : {};
      return { choice: await resolveModel({ model, folder, threads, ...settings }) };
    }
    if (!isConfigured || embedding.endpoint === undefined) {
      throw new SluiceError('invalid_request', `${model} is no endpoint that sluice.yaml names: name the folder of its files.`);
    }
    return { choice: await modelChoice({ ...config, embedding }), apiKeyEnv: embedding.endpoint.apiKeyEnv };
  }

  async function checkSpace(live: Generation, dimensions: number): Promise<void> {
    const store = recordsOf(live);
    let chunks = 0;
    try {
      for await (const records of store.walkRecords()) chunks += Math.max(0, ...records.map((record) => record.chunks));
    } finally {
      await store.close();
    }
    const { bavail, bsize } = await statfs(dataFolder);
    const [needed, free] = [chunks * (BYTES_A_CHUNK + BYTES_A_DIMENSION * dimensions), bavail * bsize];
    if (needed < free) return;
    const inMb = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
    throw new SluiceError(
      'conflict',
      `The new index needs about ${inMb(needed)}, and ${inMb(free)} are free below ${dataFolder}.`,
    );
  }

  return {
    async status() {
      const { state } = await generations.read();
      const { previous } = state;
      // Chosen, but not yet taken up here: it is shown as the next one until it answers.
      const isBehind = state.live.collection !== answering.collection;
      const next = isBehind ? { ...state.live, since: clock.now() } : state.next;
      const named = ({ model, collection }: Generation) => ({ model, collection });
      return {
        live: named(answering),
        ...(next === undefined ? {} : { next: { ...named(next), since: next.since, ...(await progressOf(state.live, next)) } }),
        ...(previous === undefined ? {} : { previous: { ...named(previous), until: previous.until } }),
        unused: await unusedOf(state),
      };
    },
    async build({ model, folder }) {
      const { choice, apiKeyEnv } = await choose(model, folder);
      const { queue: _queue, ...wanted } = generationOf(choice, await modelIdentity(choice), apiKeyEnv);
      const { state } = await generations.read();
      if (state.next === undefined) await checkSpace(state.live, choice.endpoint?.dimensions ?? USUAL_DIMENSIONS);
      await change((now, current) => beginBuild(now, current, wanted));
    },
    abort: () => change(abortBuild),
    rollBack: () => change((now, state) => rollBack(now, state, config.store.keepPreviousMs)),
    async prune() {
      const { state } = await generations.read();
      const unused = await unusedOf(state);
      await generations.store.drop(unused);
      return unused;
    },
  };

  async function progressOf(live: Generation, next: Generation & { since: number }) {
    const [one, other] = [recordsOf(live), recordsOf(next)];
    try {
      const { documents, same, failed } = await compareIndexes(one, other);
      const seconds = (clock.now() - next.since) / 1000;
      const remaining = same === 0 ? undefined : Math.round(((documents - same) * seconds) / same);
      return { documents, done: same, failed, ...(remaining === undefined ? {} : { remaining_s: remaining }) };
    } catch (error) {
      // Its collections are made by the worker, a moment after the build begins.
      if (error instanceof SluiceError) return { documents: 0, done: 0, failed: 0 };
      throw error;
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  }
}
