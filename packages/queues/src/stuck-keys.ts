import type { ReconcileRequest } from '@sluice/core';
import type { Redis } from 'ioredis';
import { reconcileSchema } from './jobs.js';

/**
 * Frees one document's key when its job is in no list: then nothing will ever remove the key, and each add for the document is
 * absorbed. One script, since a job is always in a list, or finished and without its key, between two commands.
 * Answers the data of the lost job or of what was to follow it, '' when neither is left, false when nothing was stuck.
 */
const FREE = `
local prefix, id = KEYS[1], ARGV[1]
local job = redis.call('GET', prefix .. 'de:' .. id)
if not job then return false end
for _, list in ipairs({'active', 'wait', 'paused'}) do
  if redis.call('LPOS', prefix .. list, job) then return false end
end
for _, set in ipairs({'prioritized', 'delayed', 'waiting-children'}) do
  if redis.call('ZSCORE', prefix .. set, job) then return false end
end
local data = redis.call('HGET', prefix .. 'dn:' .. id, 'data') or redis.call('HGET', prefix .. job, 'data') or ''
redis.call('DEL', prefix .. 'de:' .. id, prefix .. 'dn:' .. id, prefix .. job, prefix .. job .. ':lock')
return data`;

/** Frees every stuck document; `requests` are those whose path is still known. */
export async function freeStuckKeys(redis: Redis, prefix: string): Promise<{ freed: number; requests: ReconcileRequest[] }> {
  const requests: ReconcileRequest[] = [];
  let freed = 0;
  for await (const keys of redis.scanStream({ match: `${prefix}de:*`, count: 500 }) as AsyncIterable<string[]>) {
    for (const key of keys) {
      const data = await redis.eval(FREE, 1, prefix, key.slice(`${prefix}de:`.length));
      if (typeof data !== 'string') continue;
      freed++;
      const request = data === '' ? undefined : reconcileSchema.safeParse(JSON.parse(data)).data;
      if (request !== undefined) requests.push({ ...request, cause: 'scan' });
    }
  }
  return { freed, requests };
}
