import { createHash, timingSafeEqual } from 'node:crypto';
import { type Caller, type Clock, type SecurityLevel, SluiceError, type StoredKey } from '@sluice/core';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../hosts.js';
import type { KeyRing } from './key-ring.js';
import { matchKey, readCredential } from './key-text.js';
import { createRateLimit, type RateLimitOptions } from './rate-limit.js';

/** Where browsers go, which can only send Basic. */
const BROWSER_PATHS = /^\/(ops|docs|openapi\.json)(\/|\?|$)/;

export interface GateOptions {
  ring: KeyRing;
  clock: Clock;
  /** Opens the routes of operators to calls from this machine. Whoever can read its file owns the data. */
  operatorToken: string;
  /** True where pages of every origin may call. */
  anyOrigin: boolean;
  /** Whether calls without a key are served once keys exist. */
  anonymous: boolean;
  anonymousClearance: SecurityLevel;
  /** Called for each call with a key. */
  onUse(keyId: string): void;
  /** Calls of one key; without one, of one address. */
  calls: RateLimitOptions;
  /** Wrong keys from one address. */
  badKeys: RateLimitOptions;
}

/** Name of a caller without a credential. */
export const ANONYMOUS = 'anonymous';

type Asked = Pick<FastifyRequest, 'ip' | 'url' | 'headers'>;

/** False for a key that has expired. */
export function isValid({ expires_at }: StoredKey, now: number): boolean {
  return expires_at === undefined || Date.parse(expires_at) > now;
}

/** True for a key that still opens the routes of operators. */
export function hasOperator(keys: readonly StoredKey[], now: number): boolean {
  return keys.some((key) => key.role === 'operator' && isValid(key, now));
}

/** True for a call that a proxy on this machine passed on: it comes from here, its sender may not. */
function isForwarded({ headers }: Asked): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}

function isFromHere(request: Asked): boolean {
  return isLoopback(request.ip) && !isForwarded(request);
}

/** In constant time: hashes have one length. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(left, right);
}

/**
 * Who calls. The operator token makes a caller on this machine an operator. Without a credential a caller on this machine is a reader
 * while no key exists. Once a key exists, a call without one is 401, or a reader where the configuration admits anonymous callers.
 */
export function createGate(options: GateOptions) {
  const { ring, clock, operatorToken, anyOrigin, anonymous, anonymousClearance } = options;
  const calls = createRateLimit(options.calls, clock);
  const failures = createRateLimit(options.badKeys, clock);
  const rights = { clearance: anonymousClearance, groups: [] };

  return async (request: Asked): Promise<Caller> => {
    const credential = readCredential(request.headers.authorization, BROWSER_PATHS.test(request.url));
    if (credential !== undefined) {
      if (isFromHere(request) && isSame(credential, operatorToken)) return { role: 'operator', ...rights, name: 'terminal' };
      return callerOf(request, credential);
    }
    const stranger: Caller = { role: 'reader', ...rights, name: ANONYMOUS };
    if ((await ring.keys()).length === 0) {
      // The last key may have been revoked after the start, which checks the same.
      if (anyOrigin && request.headers.origin !== undefined)
        throw new SluiceError('forbidden', 'While no key exists, api.cors_origins "*" admits no page.');
      if (isFromHere(request)) return stranger;
      throw new SluiceError(
        'unauthorized',
        'Without a key only this machine is served. Make the first one there: sluice key create ' +
          '(in containers: docker compose exec api sluice key create)',
      );
    }
    if (!anonymous) throw new SluiceError('unauthorized', 'A key is needed: Authorization: Bearer KEY.');
    calls.take(`address ${request.ip}`);
    return stranger;
  };

  async function callerOf(request: Asked, credential: string): Promise<Caller> {
    const key = matchKey(credential, await ring.keys());
    if (key === undefined || !isValid(key, clock.now())) {
      failures.take(request.ip);
      throw new SluiceError(
        'unauthorized',
        key === undefined ? 'This key is not known, or was revoked.' : 'This key has expired.',
      );
    }
    calls.take(key.id);
    options.onUse(key.id);
    const { role, clearance, groups, sources, name, id } = key;
    return { role, clearance, groups, name, keyId: id, ...(sources === undefined ? {} : { sources }) };
  }
}
