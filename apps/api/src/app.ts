import { randomUUID } from 'node:crypto';
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import { VERSION } from '@sluice/core';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { preflightRoute, requireAllSources, requireOperator, requireSeesAll, useAccess } from './access.js';
import { useStrictJson } from './bodies.js';
import { answerBrokenRequest, answerExpectation } from './broken-requests.js';
import type { ApiDeps } from './deps.js';
import { createCounter } from './documents/counts.js';
import type { HttpApp } from './http-app.js';
import { collectMethods, knowEveryMethod, refuseOtherMethods } from './methods.js';
import { describeDocument, describeRoute } from './openapi-document.js';
import { answering, handleError, makeProblem, sendProblem } from './problems.js';
import { answerRoute } from './routes/answer.js';
import { catalogRoutes } from './routes/catalog.js';
import { chunkRoute } from './routes/chunks.js';
import { contextRoute } from './routes/context.js';
import { documentRoutes } from './routes/documents.js';
import { feedbackListRoute, feedbackRoute } from './routes/feedback.js';
import { healthRoutes } from './routes/health.js';
import { mcpRoute } from './routes/mcp.js';
import { metricsRoute } from './routes/metrics.js';
import { deadLetterRoutes } from './routes/ops-dead-letters.js';
import { keyRoutes } from './routes/ops-keys.js';
import { modelRoutes } from './routes/ops-models.js';
import { queueRoutes } from './routes/ops-queues.js';
import { reconcileRoute } from './routes/ops-reconcile.js';
import { sourceRoutes } from './routes/ops-sources.js';
import { statusRoute } from './routes/ops-status.js';
import { taskRoute } from './routes/ops-tasks.js';
import { verifyRoute } from './routes/ops-verify.js';
import { whyRoute } from './routes/ops-why.js';
import { searchRoutes } from './routes/search.js';
import { textRoute } from './routes/text.js';
import type { OpsTasks } from './schemas/tasks.js';
import { createTasks } from './tasks.js';

/** A doc_id is one path segment, percent-encoded: 4,096 bytes of path can take three times that. */
const MAX_SEGMENT = 16_384;
const BOARD_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

const ABOUT = `Queries a vector store that is kept true to watched folders.

Errors are problems (RFC 9457) with a \`code\` for programs. A method that an address does not have is answered 405, with
those it has in \`Allow\`. Bodies are JSON in UTF-8, uncompressed: 415 otherwise, 413 over \`api.body_kb\`. \`Accept\` is read by
\`/mcp\` alone, which answers 406; the other routes send what they describe.`;

/** The HTTP API over its ports; not yet listening. @param tasks those of this process, which outlive a change of models */
export async function buildApp(deps: ApiDeps, tasks: OpsTasks = createTasks()): Promise<HttpApp> {
  const app: HttpApp = Fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: deps.settings.bodyBytes,
    routerOptions: { maxParamLength: MAX_SEGMENT },
    requestTimeout: 60_000,
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<ZodTypeProvider>();

  app.server.on('checkExpectation', answerExpectation);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, makeProblem('not_found', `Nothing at ${request.method} ${request.url.split('?')[0]}.`, request.id)),
  );
  useStrictJson(app);
  useAccess(app, deps);
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    request.log.debug({ method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime }, 'answered');
  });

  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sluice',
        version: VERSION,
        description: ABOUT,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A key, or the operator token. Readers on this machine need none while no key exists.',
          },
          basic: {
            type: 'http',
            scheme: 'basic',
            description: 'A key as the password: for browsers, under /ops, /docs and /openapi.json.',
          },
        },
      },
      security: [{ bearer: [] }, { basic: [] }, {}],
    },
    transform: describeRoute,
    transformObject: describeDocument,
  });
  await app.register(async (docs) => {
    await docs.register(fastifySwaggerUi, { routePrefix: '/docs', staticCSP: true });
    docs.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  });

  const counter = createCounter(deps);
  preflightRoute(app);
  knowEveryMethod(app);
  const methods = collectMethods(app);
  healthRoutes(app, deps);
  searchRoutes(app, deps);
  contextRoute(app, deps);
  answerRoute(app, deps);
  feedbackRoute(app, deps);
  documentRoutes(app, deps);
  chunkRoute(app, deps);
  textRoute(app, deps);
  catalogRoutes(app, deps, counter);
  mcpRoute(app, deps, counter);
  metricsRoute(app, deps, counter);

  await app.register(async (operators) => {
    const ops = operators.withTypeProvider<ZodTypeProvider>();
    ops.addHook('onRequest', answering(requireOperator));
    statusRoute(ops, deps, counter);
    reconcileRoute(ops, deps);
    deadLetterRoutes(ops, deps);
    queueRoutes(ops, deps);
    verifyRoute(ops, deps, tasks);
    whyRoute(ops, deps);
    sourceRoutes(ops, deps, tasks);
    taskRoute(ops, tasks);
    keyRoutes(ops, deps);
    modelRoutes(ops, deps);
    feedbackListRoute(ops, deps);
    for (const { prefix, plugin } of deps.boards ?? []) {
      await ops.register(
        async (board) => {
          // A board knows no documents: it shows, counts and removes the jobs of all.
          board.addHook('onRequest', answering(prefix.endsWith('/manage') ? requireSeesAll : requireAllSources));
          // The page asks for fonts of another site: nothing here leaves the machine.
          board.addHook('onSend', async (_request, reply) => {
            reply.header('content-security-policy', BOARD_POLICY);
          });
          await board.register(plugin);
        },
        { prefix },
      );
    }
  });
  refuseOtherMethods(app, methods);
  await app.ready();
  return app;
}
