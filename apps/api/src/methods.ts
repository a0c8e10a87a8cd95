import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { makeProblem, sendProblem } from './problems.js';

/** Has every method that Node reads reach the routes, where it is answered; CONNECT never comes as a request. */
export function knowEveryMethod(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

/** Collects which methods each address is given from here on. */
export function collectMethods(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    methods.set(url, known);
    for (const name of [method].flat()) known.add(name);
  });
  return methods;
}

/** An address that exists answers a method it does not have with 405 and those it has, instead of "nothing here". */
export function refuseOtherMethods(app: FastifyInstance, methods: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, given] of [...methods]) {
    if (url.startsWith('/ops/queues')) continue;
    const allow = [...given].sort().join(', ');
    // OPTIONS asks what a browser may do; it has an answer everywhere.
    const others = app.supportedMethods.filter((method) => method !== 'OPTIONS' && !given.has(method));
    if (others.length === 0) continue;
    app.route({
      method: [...others],
      url,
      schema: { hide: true },
      // Before the body is looked at: of a method that is not there nobody need send one that is right.
      onRequest: async (request, reply) => refuse(request, reply, allow),
      handler: (request, reply) => refuse(request, reply, allow),
    });
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, allow: string): FastifyReply {
  reply.header('allow', allow);
  const detail = `${request.method} is not allowed here: only ${allow}.`;
  return sendProblem(reply, makeProblem('method_not_allowed', detail, request.id));
}
