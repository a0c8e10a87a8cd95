import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

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
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const type = response.headers['content-type'];
          const status = response.statusCode ?? 500;
          resolve(new Response(Buffer.concat(parts), { status, headers: type === undefined ? {} : { 'content-type': type } }));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
