import type { Redis } from 'ioredis';

/** Documents asked about in one script call, so that none holds Redis for long. */
const SLICE = 1000;

/**
 * For each document: 0 nothing waits or runs; 1 its job waits, is delayed, or will run again; 2 its job runs and nothing follows.
 * `de:` names the document's job, `dn:` holds what follows a running one. A key whose job is gone counts as nothing.
 */
const STATES = `
local states = {}
for index, id in ipairs(ARGV) do
  local job = redis.call('GET', KEYS[1] .. 'de:' .. id)
  if not job or redis.call('EXISTS', KEYS[1] .. job) == 0 then
    states[index] = 0
  elseif redis.call('EXISTS', KEYS[1] .. 'dn:' .. id) == 0 and redis.call('LPOS', KEYS[1] .. 'active', job) then
    states[index] = 2
  else
    states[index] = 1
  end
end
return states`;

async function statesOf(redis: Redis, prefix: string, uuids: readonly string[]): Promise<number[]> {
  const states: number[] = [];
  for (let from = 0; from < uuids.length; from += SLICE) {
    states.push(...((await redis.eval(STATES, 1, prefix, ...uuids.slice(from, from + SLICE))) as number[])); // the script's reply
  }
  return states;
}

/** For each document whether a job will begin after now, so that another add would change nothing but that job's place. */
export async function willBegin(redis: Redis, prefix: string, uuids: readonly string[]): Promise<boolean[]> {
  return (await statesOf(redis, prefix, uuids)).map((state) => state === 1);
}

/** The documents for which a job waits, runs or is delayed. */
export async function documentsWithWork(redis: Redis, prefix: string, uuids: readonly string[]): Promise<Set<string>> {
  const states = await statesOf(redis, prefix, uuids);
  return new Set(uuids.filter((_, index) => states[index] !== 0));
}
