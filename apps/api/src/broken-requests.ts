import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { makeProblem } from './problems.js';

/** What is no HTTP never reaches a route; it is answered like everything else. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = tooLarge ? 431 : late ? 408 : 400;
  const detail = tooLarge
    ? 'The headers are too large.'
    : late
      ? 'The request took too long.'
      : 'This is not a valid HTTP request.';
  const body = JSON.stringify(makeProblem('invalid_request', detail, randomUUID(), { status }));
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Node itself would answer an unknown `Expect` without a body. */
export function answerExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const detail = `Expect: ${headers.expect} is not known here: only 100-continue.`;
  const problem = makeProblem('invalid_request', detail, randomUUID(), { status: 417 });
  response.writeHead(417, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
}
