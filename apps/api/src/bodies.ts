import { SluiceError } from '@sluice/core';
import type { FastifyInstance } from 'fastify';

/** Reads JSON bodies strictly: UTF-8 that is none is an error instead of replacement marks, and so are `__proto__` keys and compression. */
export function useStrictJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  app.addHook('preParsing', async ({ headers }) => {
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding.trim().toLowerCase() === 'identity') return;
    throw new SluiceError('invalid_request', `Bodies are taken as they are, not with Content-Encoding ${coding}.`, {
      details: { status: 415 },
    });
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = decoder.decode(body as Buffer);
    } catch {
      done(new SluiceError('invalid_request', 'The body is not valid UTF-8.'));
      return;
    }
    void parse(request, text, done);
  });
}
