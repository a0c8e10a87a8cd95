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
  /** Whether calls without a key are served once keys exist. */
  anonymous: boolean;
  anonymousClearance: SecurityLevel;
  /** Calls of one key; without one, of one address. */
  calls: RateLimitOptions;
  /** Wrong keys from one address. */
  badKeys: RateLimitOptions;
}

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

/** Where keys are listed and made; revoking one is another address. */
function isKeyRoute({ url }: Asked): boolean {
  return url.split('?')[0] === '/ops/api/keys';
}

/**
 * Who asks. While no key exists: whoever calls from this machine, an operator. Once one exists: the holder of a key; a call without is
 * 401, or a reader where the configuration lets strangers in. Where all keys are readers', or have expired, this machine may still
 * make one for an operator: else nobody could any more.
 */
export function createGate({ ring, clock, anonymous, anonymousClearance, ...limits }: GateOptions) {
  const calls = createRateLimit(limits.calls, clock);
  const failures = createRateLimit(limits.badKeys, clock);

  return async (request: Asked): Promise<Caller> => {
    const credential = readCredential(request.headers.authorization, BROWSER_PATHS.test(request.url));
    if (credential !== undefined) return callerOf(request, credential);
    const keys = await ring.keys();
    const stranger = { clearance: anonymousClearance, groups: [], name: 'anonymous' };
    if (keys.length === 0) {
      if (isLoopback(request.ip) && !isForwarded(request)) return { role: 'operator', ...stranger };
      throw new SluiceError(
        'unauthorized',
        'Without a key only this machine is served. Make the first one there: sluice key create ' +
          '(in containers: docker compose exec api sluice key create)',
      );
    }
    if (isKeyRoute(request) && isLoopback(request.ip) && !isForwarded(request) && !hasOperator(keys, clock.now()))
      return { role: 'operator', ...stranger };
    if (!anonymous) throw new SluiceError('unauthorized', 'A key is needed: Authorization: Bearer KEY.');
    calls.take(`address ${request.ip}`);
    return { role: 'reader', ...stranger };
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
    return { role: key.role, clearance: key.clearance, groups: key.groups, name: key.name };
  }
}
