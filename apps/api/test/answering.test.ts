import { SluiceError } from '@sluice/core';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { answering } from '../src/problems.js';

it('answers a refusal as a problem inside a plugin with an error handler of its own', async () => {
  const app = fastify();
  app.addHook(
    'onRequest',
    answering(async () => {
      throw new SluiceError('unauthorized', 'A key is needed.');
    }),
  );
  await app.register(async (plugin) => {
    plugin.setErrorHandler((_error, _request, reply) => reply.code(500).send({ error: 'mine' }));
    plugin.get('/board', async () => 'shown');
  });
  const response = await app.inject('/board');
  expect(response.statusCode).toBe(401);
  expect(response.headers['www-authenticate']).toContain('Basic');
  expect(response.json()).toMatchObject({ code: 'unauthorized' });
  await app.close();
});
