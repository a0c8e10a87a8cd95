import { SluiceError } from '@sluice/core';
import { Redis } from 'ioredis';

export type { Redis } from 'ioredis';

const CONNECT_MS = 5000;
/** A command that takes longer means a Redis that hangs: the producer is told instead of waiting for ever. */
const COMMAND_MS = 10_000;
const MAX_RECONNECT_MS = 2000;

export interface RedisOptions {
  /** `redis://[user:password@]host:port[/database]`, `rediss://` for TLS. */
  url: string;
  /**
   * `producer`: commands fail at once while Redis is away (`queue_unavailable`), and the connection comes back by itself.
   * `worker`: commands wait for Redis to come back, as BullMQ's workers need.
   */
  role: 'producer' | 'worker';
  /** Called with connection errors, which are retried for ever. */
  onError?: (error: Error) => void;
}

/** A connection to Redis; connects by itself, and again whenever it is lost. End it with `quit()` or `disconnect()`. */
export function createRedis(options: RedisOptions): Redis {
  const producer = options.role === 'producer';
  const redis = new Redis(options.url, {
    connectTimeout: CONNECT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 6), MAX_RECONNECT_MS),
    // A Redis that is loading its data refuses commands: reconnecting waits for it.
    reconnectOnError: (error) => error.message.startsWith('LOADING'),
    enableOfflineQueue: !producer,
    maxRetriesPerRequest: producer ? 0 : null,
    ...(producer ? { commandTimeout: COMMAND_MS } : {}),
  });
  // Every command that waits for the first connection listens.
  redis.setMaxListeners(0);
  // Without a listener ioredis prints each of them.
  redis.on('error', (error: Error) => options.onError?.(error));
  return redis;
}

/**
 * Runs commands on a producer's connection. A connection that is just being made is waited for, at most 5 s; one that was lost
 * fails at once. Errors: `queue_unavailable`, saying why.
 */
export async function withRedis<T>(redis: Redis, work: () => Promise<T>): Promise<T> {
  try {
    if (redis.status === 'connecting' || redis.status === 'connect') await becomesReady(redis);
    if (redis.status !== 'ready') throw new Error('not connected');
    return await work();
  } catch (thrown) {
    throw toQueueError(thrown);
  }
}

function becomesReady(redis: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(new Error(`no connection within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
    const onReady = () => end();
    const onClose = () => end(new Error('connection refused'));
    const end = (error?: Error) => {
      clearTimeout(timer);
      redis.off('ready', onReady);
      redis.off('close', onClose);
      error === undefined ? resolve() : reject(error);
    };
    redis.once('ready', onReady);
    redis.once('close', onClose);
  });
}

/** Any failure of Redis as a `queue_unavailable`; a SluiceError stays what it is. */
function toQueueError(thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const message = /^(OOM|.*\bOOM command not allowed)/.test(reason)
    ? 'Redis is out of memory (maxmemory): raise its limit or let the queue drain.'
    : `Redis does not answer: ${reason}.`;
  return new SluiceError('queue_unavailable', message, { cause: thrown });
}

/**
 * Checks that Redis answers and keeps what it is given.
 * Errors: `queue_unavailable`; `not_ready` naming the policy when keys may be evicted, which would lose jobs silently.
 */
export async function checkRedis(redis: Redis): Promise<void> {
  const info = await withRedis(redis, () => redis.info('memory'));
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy !== 'noeviction') {
    throw new SluiceError(
      'not_ready',
      `Redis evicts keys (maxmemory-policy ${policy ?? 'unknown'}), which loses jobs silently: set "CONFIG SET maxmemory-policy noeviction".`,
      { details: { policy } },
    );
  }
}
