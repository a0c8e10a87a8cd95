import { type Caller, type Clock, type SecurityLevel, SluiceError, type StoredKey } from '@sluice/core';
import type { FastifyRequest } from 'fastify';
import { checkHost, isLoopback } from '../access.js';
import type { KeyRing } from './key-ring.js';
import { matchKey, readCredential } from './key-text.js';
import { createRateLimit } from './rate-limit.js';

/** Calls of one key. Far above what a person or a program in a loop of its own needs; it keeps one caller from starving others. */
const CALLS = { perSecond: 200, burst: 400 };
/** Wrong keys from one address. */
const FAILURES = { perSecond: 0.2, burst: 10 };

/** Where browsers go, which can only send Basic. */
const BROWSER_PATHS = /^\/(ops|docs|openapi\.json)(\/|\?|$)/;

export interface GateOptions {
  ring: KeyRing;
  clock: Clock;
  /** Names beside loopback ones by which this server may be called without a key. */
  allowedHosts: readonly string[];
  /** Whether calls without a key are served once keys exist. */
  anonymous: boolean;
  anonymousClearance: SecurityLevel;
}

type Asked = Pick<FastifyRequest, 'ip' | 'url' | 'headers'>;

/** True for a key that still opens the routes of operators. */
export function hasOperator(keys: readonly StoredKey[], now: number): boolean {
  return keys.some(({ role, expires_at }) => role === 'operator' && (expires_at === undefined || Date.parse(expires_at) > now));
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
 *
 * The Host header is checked for calls without a key alone: a foreign page that points its own name here has no key to send.
 */
export function createGate({ ring, clock, allowedHosts, anonymous, anonymousClearance }: GateOptions) {
  const calls = createRateLimit(CALLS, clock);
  const failures = createRateLimit(FAILURES, clock);

  return async (request: Asked): Promise<Caller> => {
    const credential = readCredential(request.headers.authorization, BROWSER_PATHS.test(request.url));
    if (credential !== undefined) return callerOf(request, credential);
    checkHost(request, allowedHosts);
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
    const expired = key?.expires_at !== undefined && Date.parse(key.expires_at) <= clock.now();
    if (key === undefined || expired) {
      failures.take(request.ip);
      throw new SluiceError('unauthorized', expired ? 'This key has expired.' : 'This key is not known, or was revoked.');
    }
    calls.take(key.id);
    return { role: key.role, clearance: key.clearance, groups: key.groups, name: key.name };
  }
}
