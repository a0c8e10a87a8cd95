import type { Redis } from 'ioredis';
import { z } from 'zod';
import { withRedis } from './redis.js';

/** What a watcher says of a source. */
const sourceStateSchema = z.object({
  /** The root is there and can be read. */
  reachable: z.boolean(),
  /** The root is missing, unreadable or another folder than before: documents that are gone from it are kept. */
  deletes_suspended: z.boolean(),
  /** Why, and what to do about it. */
  message: z.string().optional(),
  /** Marks of the folder that the watcher takes for the root, while it does. */
  folder: z.object({ inode: z.string(), birth: z.string() }).optional(),
  polling: z.boolean(),
  /** Files that the last scan saw, and the ISO instant of its end. */
  files: z.int().optional(),
  scanned_at: z.string().optional(),
  /** Changes may be seen late, by scans only: what the system said. */
  watch_error: z.string().optional(),
});
export type WatchedSourceState = z.infer<typeof sourceStateSchema>;

/** What the API and the watcher tell each other. Disposable: a flush costs one scan. Errors of every function: `queue_unavailable`. */
export interface Control {
  /** Asks for a scan of a source; the number that scannedUpTo reaches when it is done. Numbers grow, across a flush too. */
  requestScan(source: string): Promise<number>;
  /** The highest request that a finished scan has answered, all it saw being stable and its jobs queued; 0 before the first. */
  scannedUpTo(source: string): Promise<number>;
  /** Undefined when no watcher has spoken for a minute. */
  state(source: string): Promise<WatchedSourceState | undefined>;
  /** The folder that the watcher takes for a source's root; `none` while it has none, undefined when no watcher has spoken for a minute. */
  rootOf(source: string): Promise<WatchedSourceState['folder'] | 'none'>;
  /** An operator's word that the folder that is there now is the source's root, whatever it holds; for the scan that comes next. */
  acceptRoot(source: string): Promise<void>;

  /** Watcher's side: the number up to which a scan that begins now answers, the highest request of each source, and what was lost. */
  look(sources: readonly string[]): Promise<ControlView>;
  /** Watcher's side: a scan is done. @param upTo the `now` of a look before it began */
  answerScan(source: string, upTo: number): Promise<void>;
  publish(source: string, state: WatchedSourceState): Promise<void>;
  /** Watcher's side: takes acceptRoot's word, once. */
  takeAcceptance(source: string): Promise<boolean>;

  /**
   * Watcher's side: asks to lead for ttlMs, or goes on leading. Resolves to who leads now: the holder given, or another.
   *
   * @param instead a leader known to be gone, whose place is taken at once
   */
  lead(holder: string, ttlMs: number, instead?: string): Promise<string>;
  /** Watcher's side: ends leading, so that another need not wait. */
  resign(holder: string): Promise<void>;
}

interface ControlView {
  now: number;
  requested: Map<string, number>;
  /** The keys of Redis were lost since the last look of this process. */
  flushed: boolean;
}

const STATE_SECONDS = 60;
const ACCEPT_SECONDS = 600;

/** Redis' time in microseconds, or one more than the last number, so that it never repeats. */
const TAKE_NUMBER = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
local number = math.max(now, last + 1)
redis.call('SET', KEYS[1], string.format('%.0f', number))
return string.format('%.0f', number)`;

/** Two watchers may answer: the number never falls. */
const RAISE = `
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) > last then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

const LEAD = `
local leader = redis.call('GET', KEYS[1])
if leader and leader ~= ARGV[1] and leader ~= ARGV[3] then return leader end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]`;

const RESIGN = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

export function createControl(options: { redis: Redis; namespace: string }): Control {
  const { redis, namespace } = options;
  const key = (name: string) => `${namespace}:control:${name}`;
  const guarded = <T>(work: () => Promise<T>) => withRedis(redis, work);
  async function readState(source: string): Promise<WatchedSourceState | undefined> {
    const text = await redis.get(key(`state:${source}`));
    return text === null ? undefined : sourceStateSchema.safeParse(JSON.parse(text)).data;
  }

  /** Value of the key that a flush would take away. */
  let sentinel: string | undefined;

  return {
    requestScan: (source) => guarded(async () => Number(await redis.eval(TAKE_NUMBER, 1, key(`requested:${source}`)))),
    scannedUpTo: (source) => guarded(async () => Number((await redis.get(key(`scanned:${source}`))) ?? 0)),
    state: (source) => guarded(() => readState(source)),
    rootOf: (source) =>
      guarded(async () => {
        const state = await readState(source);
        return state?.deletes_suspended ? 'none' : state?.folder;
      }),
    acceptRoot: (source) =>
      guarded(async () => {
        await redis.set(key(`accept:${source}`), '1', 'EX', ACCEPT_SECONDS);
      }),
    look: (sources) =>
      guarded(async () => {
        await redis.set(key('sentinel'), String(process.hrtime.bigint()), 'NX');
        const [seen, ...requests] = await redis.mget(key('sentinel'), ...sources.map((source) => key(`requested:${source}`)));
        const flushed = sentinel !== undefined && seen !== sentinel;
        sentinel = seen ?? sentinel;
        const requested = new Map(sources.map((source, index) => [source, Number(requests[index] ?? 0)]));
        // After the requests were read: whatever was asked for before is below it.
        const [seconds, microseconds] = await redis.time();
        const now = Math.max(Number(seconds) * 1_000_000 + Number(microseconds), ...requested.values());
        return { now, requested, flushed };
      }),
    answerScan: (source, upTo) =>
      guarded(async () => {
        await redis.eval(RAISE, 1, key(`scanned:${source}`), String(upTo));
      }),
    publish: (source, state) =>
      guarded(async () => {
        await redis.set(key(`state:${source}`), JSON.stringify(state), 'EX', STATE_SECONDS);
      }),
    lead: (holder, ttlMs, instead = holder) =>
      guarded(async () => String(await redis.eval(LEAD, 1, key('leader'), holder, String(ttlMs), instead))),
    resign: (holder) =>
      guarded(async () => {
        await redis.eval(RESIGN, 1, key('leader'), holder);
      }),
    takeAcceptance: (source) => guarded(async () => (await redis.getdel(key(`accept:${source}`))) !== null),
  };
}
