import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';

/** How often a worker says that its event loop turns, ms. */
const BEAT_MS = 3_000;
/** A worker that is connected and has not said so for this long stands still, ms. No ordinary pause lasts as long. */
const STANDS_STILL_MS = 15_000;
/** Workers that went without a word are remembered for this long, ms. */
const REMEMBER_MS = 24 * 3_600_000;

/** By Redis' clock alone, so that no two clocks are compared. */
const BEAT = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return 1`;

/** A worker that is connected to Redis while its event loop does not turn: in an endless computation, or stopped. */
export interface StandingWorker {
  /** Host and pid of its process. */
  host: string;
  pid: number;
  /** Since its last word. */
  seconds: number;
}

/** A name for this process' worker, as no other has. Redis allows no spaces in it. */
export function workerName(): string {
  return `${hostname().replace(/[^\w.-]/g, '_')}/${process.pid}/${randomBytes(4).toString('hex')}`;
}

function keyOf(namespace: string): string {
  return `${namespace}:worker-beats`;
}

export interface Heartbeat {
  start(): void;
  stop(): void;
}

export function createHeartbeat(
  redis: Redis,
  options: { namespace: string; name: string; onError: (error: Error) => void },
): Heartbeat {
  let timer: NodeJS.Timeout | undefined;
  let isUnderWay = false;
  /** Commands wait while Redis is away: one is enough. */
  function beat(): void {
    if (isUnderWay) return;
    isUnderWay = true;
    redis
      .eval(BEAT, 1, keyOf(options.namespace), options.name, String(REMEMBER_MS))
      .catch(options.onError)
      .finally(() => {
        isUnderWay = false;
      });
  }
  return {
    start() {
      beat();
      timer = setInterval(beat, BEAT_MS);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Which of the connected workers stand still. One that was killed is not connected any more; of one that never spoke, as after a flush of
 * Redis, nothing is known.
 */
export async function standingWorkers(
  redis: Redis,
  namespace: string,
  connected: readonly { rawname?: string }[],
): Promise<StandingWorker[]> {
  const key = keyOf(namespace);
  const [beats, [seconds, micros]] = await Promise.all([redis.zrange(key, '0', '-1', 'WITHSCORES'), redis.time()]);
  const now = Number(seconds) * 1000 + Number(micros) / 1000;
  const names = new Set(connected.map(({ rawname = '' }) => rawname.slice(rawname.lastIndexOf(':') + 1)));
  const standing: StandingWorker[] = [];
  for (let at = 0; at < beats.length; at += 2) {
    const name = beats[at] ?? '';
    const silentMs = now - Number(beats[at + 1]);
    if (!names.has(name) || silentMs < STANDS_STILL_MS) continue;
    const [host = '', pid] = name.split('/');
    standing.push({ host, pid: Number(pid), seconds: Math.floor(silentMs / 1000) });
  }
  return standing;
}
