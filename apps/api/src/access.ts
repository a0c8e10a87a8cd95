import { type Caller, SluiceError } from '@sluice/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiDeps, ApiSettings } from './deps.js';

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** True for addresses of this machine alone, IPv4 ones mapped into IPv6 included. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/** Host name of a Host header or an origin, without the port, in lower case; undefined when it is not one. */
function hostName(value: string): string | undefined {
  try {
    const url = new URL(value.includes('://') ? value : `http://${value}`);
    return url.hostname.toLowerCase();
  } catch {
    return undefined;
  }
}

/**
 * Refuses requests that a foreign web page made a browser on this machine send: by a name of its own that it points here (DNS
 * rebinding: the Host header gives it away), or straight across origins.
 */
export function checkHostAndOrigin(request: Pick<FastifyRequest, 'headers'>, settings: ApiSettings): void {
  const known = (name: string | undefined) =>
    name !== undefined && (LOOPBACK_NAMES.has(name) || settings.allowedHosts.includes(name));
  if (!known(hostName(request.headers.host ?? ''))) {
    throw new SluiceError('forbidden', 'The Host header names no address of this server.');
  }
  const origin = request.headers.origin;
  if (origin === undefined || settings.corsOrigins.includes(origin)) return;
  // The pages this server shows itself (/docs, /ops/queues) send their own origin.
  if (origin !== `http://${request.headers.host}` && origin !== `https://${request.headers.host}`) {
    throw new SluiceError('forbidden', `Origin ${origin} is not allowed: add it to api.cors_origins to allow it.`);
  }
}

/** While no key exists: an operator with `api.anonymous_clearance`, from this machine alone. */
export function anonymousCaller(request: Pick<FastifyRequest, 'ip'>, settings: ApiSettings): Caller {
  if (!isLoopback(request.ip)) {
    throw new SluiceError('unauthorized', 'Without a key only this machine is served. Make one: sluice key create');
  }
  return { role: 'operator', clearance: settings.anonymousClearance, groups: [], name: 'anonymous' };
}

/** Who asks, settled before any route runs. Health routes are open to whoever reaches this server. */
export function useAccess(app: FastifyInstance, { settings, identify }: Pick<ApiDeps, 'settings' | 'identify'>): void {
  // Set on every request by the hook below, before anything reads it.
  app.decorateRequest('caller', null as unknown as Caller);
  app.addHook('onRequest', async (request) => {
    checkHostAndOrigin(request, settings);
    if (request.routeOptions.config.open !== true) request.caller = await identify(request);
  });
}

/** For routes under /ops and metrics. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  if (request.caller.role !== 'operator') throw new SluiceError('forbidden', 'This needs a key with the role operator.');
}
