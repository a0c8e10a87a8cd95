import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Config, InstanceGenerations } from '@sluice/config';
import type { Clock } from '@sluice/core';
import type { Generation } from '@sluice/models';
import type { Logger } from '@sluice/telemetry';
import { answerBrokenRequest, answerExpectation } from './broken-requests.js';
import type { HttpApp } from './http-app.js';

const POLL_MS = 1000;
/** How long the parts of a model that answers no more stay for requests that have begun, ms: longer than any of those may take. */
const DRAIN_MS = 70_000;
/** As Fastify's own server has them. */
const KEEP_ALIVE_MS = 72_000;
const REQUEST_MS = 60_000;
/** Bytes of a request's first line and headers: room for the longest filter and groups of a query, which Node's 16 KiB lack. */
const MAX_HEADER_BYTES = 131_072;
const CLOSE_IDLE_MS = 50;

/** The API over one model. */
export interface Answering {
  app: HttpApp;
  close(): Promise<void>;
}

export interface ServeOptions<A extends Answering> {
  api: Pick<Config['api'], 'host' | 'port'>;
  generations: Pick<InstanceGenerations, 'read' | 'configured'>;
  open(generation: Generation): Promise<A>;
  /** Called with the first one, before anything listens. */
  beforeListening(first: A): Promise<void>;
  clock: Clock;
  logger: Logger;
}

/**
 * Listens, and hands each request to the API over the model that is live when it arrives. When another model becomes live, everything
 * is made for it first; requests that have begun end with what they began with.
 */
export async function serve<A extends Answering>(options: ServeOptions<A>): Promise<{ stop(): Promise<void> }> {
  const { generations, clock, logger } = options;
  const stopping = new AbortController();
  const leaving = new Set<Promise<void>>();

  async function liveNow(): Promise<Generation> {
    return (await generations.read()).state.live;
  }

  let live = await liveNow().catch(() => generations.configured);
  let current = await options.open(live);
  await options.beforeListening(current);
  const server: Server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_MS, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => current.app.routing(request, response),
  );
  server.on('clientError', answerBrokenRequest);
  server.on('checkExpectation', answerExpectation);
  server.listen(options.api.port, options.api.host);
  await once(server, 'listening');

  async function leave(old: Answering): Promise<void> {
    await clock.sleep(DRAIN_MS, stopping.signal).catch(() => {});
    await old.app.close();
    await old.close();
  }

  async function follow(): Promise<void> {
    const wanted = await liveNow();
    if (wanted.collection === live.collection) return;
    const next = await options.open(wanted);
    const old = current;
    current = next;
    live = wanted;
    logger.info({ model: wanted.model, collection: wanted.collection }, 'another model answers from now on');
    const left = leave(old).finally(() => leaving.delete(left));
    leaving.add(left);
  }

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(POLL_MS, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      await follow().catch((cause: unknown) => logger.debug({ cause: String(cause) }, 'the live model could not be looked at'));
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await loop;
      const closed = once(server, 'close');
      server.close();
      // A kept-alive connection is idle only once its answer has gone out.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_MS);
      await Promise.all([...leaving, closed]).finally(() => clearInterval(idle));
      await current.app.close();
      await current.close();
    },
  };
}
