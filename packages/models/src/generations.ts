import { SluiceError } from '@sluice/core';
import { z } from 'zod';

/** A model with the collections and the queue of its own. */
export const generationSchema = z.strictObject({
  /** Key of the collections, see `ModelIdentity.collection`. */
  collection: z.string().min(1),
  /** Added to the namespace where its jobs, fences and scans are kept; '' for the generation that an instance begins with. */
  queue: z.string(),
  model: z.string().min(1),
  /** Absolute path of the model's files; of an endpoint's model that of its tokenizer. */
  folder: z.string().optional(),
  maxTokens: z.int().optional(),
  pooling: z.enum(['mean', 'cls', 'last']).optional(),
  passagePrefix: z.string().optional(),
  queryPrefix: z.string().optional(),
  endpoint: z
    .strictObject({
      baseUrl: z.string(),
      /** Name of the variable that holds the key: the key itself is not stored. */
      apiKeyEnv: z.string().optional(),
      dimensions: z.int().optional(),
      batch: z.int(),
      concurrency: z.int(),
      timeoutMs: z.number(),
      pricePerMillionTokens: z.number(),
    })
    .optional(),
});
export type Generation = z.infer<typeof generationSchema>;

/** The generations of an instance. `live` answers. Times are Unix milliseconds. */
export const generationsSchema = z.strictObject({
  /** Collection of the model that sluice.yaml named when the live one was chosen: another one there later wins. */
  configured: z.string(),
  live: generationSchema,
  /** Built beside the live one. */
  next: generationSchema.extend({ since: z.number() }).optional(),
  /** Was live before; follows the disk until then, so that it can answer again. */
  previous: generationSchema.extend({ until: z.number() }).optional(),
  /** No longer wanted: removed after that time, when nothing writes to it any more. */
  doomed: z.array(generationSchema.extend({ after: z.number() })).default([]),
});
export type Generations = z.infer<typeof generationsSchema>;

/** Time for every process to leave a generation before it is removed, ms. */
const LEAVE_MS = 30_000;

/**
 * What holds for a process whose configuration names this model. A model that is in no generation is live at once, and alone: what is
 * stored may be that of another instance of the same namespace.
 */
export function followedGenerations(stored: Generations | undefined, configured: Generation): Generations {
  const own: Generations = { configured: configured.collection, live: configured, doomed: [] };
  if (stored === undefined) return own;
  const known = [stored.configured, stored.live.collection, stored.next?.collection, stored.previous?.collection];
  if (!known.includes(configured.collection)) return own;
  // What decides no vector, as an address or a number of requests, is taken from the configuration.
  const withSettings = <G extends Generation>(one: G): G =>
    one.collection === configured.collection ? { ...one, ...configured, queue: one.queue } : one;
  return {
    ...stored,
    live: withSettings(stored.live),
    ...(stored.next === undefined ? {} : { next: withSettings(stored.next) }),
    ...(stored.previous === undefined ? {} : { previous: withSettings(stored.previous) }),
  };
}

/** Begins to build a generation. The same call again changes nothing. Error `conflict`. */
export function beginBuild(now: number, state: Generations, wanted: Omit<Generation, 'queue'>): Generations {
  const { collection } = wanted;
  if (collection === state.live.collection) throw new SluiceError('conflict', `${wanted.model} is the live model already.`);
  if (collection === state.next?.collection) return state;
  if (state.next !== undefined) {
    throw new SluiceError(
      'conflict',
      `${state.next.model} is being built: wait for it, or end that by "sluice reindex --abort".`,
    );
  }
  if (collection === state.previous?.collection) {
    throw new SluiceError('conflict', `${wanted.model} was live before and is kept: use "sluice reindex --rollback".`);
  }
  if (state.doomed.some((one) => one.collection === collection)) {
    throw new SluiceError('conflict', `An earlier index of ${wanted.model} is being removed: try again in a minute.`);
  }
  const queue = `-${collection.replace(/^.*-/s, '')}`;
  return { ...state, next: { ...wanted, queue, since: now } };
}

/** The next generation answers from now on; the live one is kept for a while. */
export function switchToNext(now: number, state: Generations, keepMs: number): Generations {
  const { next, ...rest } = state;
  if (next === undefined) throw new SluiceError('conflict', 'No model is being built.');
  const { since: _since, ...live } = next;
  const doomed = state.previous === undefined ? state.doomed : [...state.doomed, doomedOf(now, state.previous)];
  return { ...rest, live, previous: { ...state.live, until: now + keepMs }, doomed };
}

/** Ends a build: what has been built is removed. Error `conflict` where there is none. */
export function abortBuild(now: number, state: Generations): Generations {
  const { next, ...rest } = state;
  if (next === undefined) throw new SluiceError('conflict', 'No model is being built.');
  return { ...rest, doomed: [...state.doomed, doomedOf(now, next)] };
}

/** The generation that was live before answers again. Error `conflict` where none is kept, or another is being built. */
export function rollBack(now: number, state: Generations, keepMs: number): Generations {
  const { previous } = state;
  if (previous === undefined) throw new SluiceError('conflict', 'No earlier model is kept.');
  if (state.next !== undefined) throw new SluiceError('conflict', `${state.next.model} is being built: abort that first.`);
  const { until: _until, ...live } = previous;
  return { ...state, live, previous: { ...state.live, until: now + keepMs } };
}

/** Gives up the generation that was live before, once its time is over. */
export function expire(now: number, state: Generations): Generations {
  const { previous, ...rest } = state;
  if (previous === undefined || now < previous.until) return state;
  return { ...rest, doomed: [...state.doomed, doomedOf(now, previous)] };
}

function doomedOf(now: number, generation: Generation): Generations['doomed'][number] {
  return { ...generationSchema.strip().parse(generation), after: now + LEAVE_MS };
}

/** The generations that follow the disk, the live one first. */
export function followingGenerations({ live, next, previous }: Generations): Generation[] {
  return [live, next, previous].flatMap((one) => (one === undefined ? [] : [generationSchema.strip().parse(one)]));
}
