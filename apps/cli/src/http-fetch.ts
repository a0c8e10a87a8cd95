import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';

/** A fetch over node:http: the global one gives up on an answer that takes five minutes, as verify of a large store may. */
export async function httpFetch(request: Request, interrupted: AbortSignal): Promise<Response> {
  const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
  const send = request.url.startsWith('https:') ? httpsRequest : httpRequest;
  const headers: Record<string, string> = {};
  request.headers.forEach((value, name) => {
    headers[name] = value;
  });
  if (body !== undefined) headers['content-length'] = String(body.length);
  return new Promise((resolve, reject) => {
    const sent = send(
      request.url,
      { method: request.method, headers, signal: AbortSignal.any([request.signal, interrupted]) },
      (response) => {
        const type = response.headers['content-type'];
        const status = response.statusCode ?? 500;
        const received = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        const init = { status, headers: received };
        if (type?.includes('event-stream')) {
          // Sound: Node's web streams and the global ones are the same, declared twice.
          resolve(new Response(Readable.toWeb(response) as ReadableStream<Uint8Array>, init));
          return;
        }
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          // Statuses without a body take none.
          const body = [204, 205, 304].includes(status) ? null : Buffer.concat(parts);
          resolve(new Response(body, init));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
