import { type Caller, SluiceError } from '@sluice/core';
import { actFor, seesAll } from '@sluice/metadata';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createCallsAtOnce } from './calls-at-once.js';
import type { ApiDeps } from './deps.js';
import { checkHost } from './hosts.js';
import { ANONYMOUS } from './keys/gate.js';
import { answering } from './problems.js';
import { actingOf } from './schemas/acting.js';

/** Refuses what a page of another origin made a browser send, unless `api.cors_origins` allows that origin. */
function checkOrigin({ headers }: Pick<FastifyRequest, 'headers'>, corsOrigins: readonly string[]): void {
  const { origin, host } = headers;
  if (origin === undefined || isAllowed(origin, corsOrigins)) return;
  // The pages this server shows itself (/docs, /ops/queues) send their own origin.
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new SluiceError('forbidden', `Origin ${origin} is not allowed: add it to api.cors_origins to allow it.`);
}

function isAllowed(origin: string, corsOrigins: readonly string[]): boolean {
  return corsOrigins.includes('*') || corsOrigins.includes(origin);
}

/** Who asks, settled before any route runs. Health routes are open to whoever reaches this server. */
export function useAccess(app: FastifyInstance, { settings, identify }: Pick<ApiDeps, 'settings' | 'identify'>): void {
  // Set on every request by the hook below, before anything reads it.
  app.decorateRequest('caller', null as unknown as Caller);
  const allowedHosts = new Set(settings.allowedHosts.map((name) => name.toLowerCase()));
  const takePlace = createCallsAtOnce(settings.callsAtOnce);
  app.addHook(
    'onRequest',
    answering(async (request, reply) => {
      checkHost(request, allowedHosts);
      checkOrigin(request, settings.corsOrigins);
      const { origin } = request.headers;
      if (origin !== undefined && isAllowed(origin, settings.corsOrigins)) allowOrigin(reply, origin);
      if (request.routeOptions.config.open === true) return;
      request.caller = await identify(request);
      checkRole(request);
      takePlace(request.caller.keyId ?? `address ${request.ip}`, reply);
    }),
  );
  // After validation, which checked what the route declares. Elsewhere rights that are asked for are refused: to pass over them would
  // answer with more.
  app.addHook('preHandler', async (request) => {
    const { config, schema } = request.routeOptions;
    if (config.open === true) return;
    if (schema?.querystring === undefined && actingOf(undefined, request.query) !== undefined)
      throw new SluiceError('invalid_request', 'querystring: as_clearance and as_groups are not for this route.');
    const acting = actingOf(schema?.body === undefined ? undefined : request.body, request.query);
    if (acting !== undefined) request.caller = actFor(request.caller, acting);
  });
}

function allowOrigin(reply: FastifyReply, origin: string): void {
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', 'x-request-id, retry-after');
  reply.header('vary', 'origin');
}

/** Answers a browser that asks whether it may call: for the origins of `api.cors_origins`, nobody else gets here. */
export function preflightRoute(app: FastifyInstance): void {
  app.options('*', { schema: { hide: true }, config: { open: true } }, async (request, reply) => {
    if (request.headers.origin !== undefined) {
      reply.header('access-control-allow-methods', 'GET, POST, DELETE');
      reply.header('access-control-allow-headers', 'authorization, content-type');
      reply.header('access-control-max-age', '600');
    }
    return reply.code(204).send();
  });
}

/** A key of the role metrics opens one route. */
function checkRole({ caller, routeOptions }: FastifyRequest): void {
  if (caller.role !== 'metrics' || routeOptions.url === '/metrics') return;
  throw new SluiceError('forbidden', 'A key with the role metrics reads /metrics alone.');
}

/** For routes under /ops. A browser on the queue pages is asked for a password. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  const { role, name } = request.caller;
  if (role === 'operator') return;
  const isPage = request.url.startsWith('/ops/queues');
  const advice = 'This needs a key with the role operator, or the token in secrets/operator-token of the data folder.';
  throw new SluiceError(name === ANONYMOUS && isPage ? 'unauthorized' : 'forbidden', advice);
}

/** For what acts on the jobs of every document. */
export async function requireSeesAll({ caller }: FastifyRequest): Promise<void> {
  if (seesAll(caller)) return;
  throw new SluiceError(
    'forbidden',
    'This acts on the jobs of all documents: it needs an operator of clearance 5 for all sources.',
  );
}

/** For what names sources and counts the jobs of all. */
export async function requireAllSources({ caller }: FastifyRequest): Promise<void> {
  if (caller.sources === undefined) return;
  throw new SluiceError('forbidden', 'This shows the jobs of all sources, and your key is limited to some.');
}
