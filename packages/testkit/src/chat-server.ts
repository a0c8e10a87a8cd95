import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a chat server was asked. */
export interface ChatRequest {
  model: string;
  /** Text of the last message. */
  asked: string;
  /** Text of the first message, where there are several. */
  system: string;
  stream: boolean;
  authorization: string | undefined;
}

export interface ChatServer {
  /** What `llm.base_url` is set to. */
  baseUrl: string;
  readonly requests: ChatRequest[];
  close(): Promise<void>;
}

/**
 * A real HTTP server on this machine that speaks OpenAI's chat completions. A streamed answer comes in pieces of a few signs.
 *
 * @param answer text of the reply; a number is the HTTP status that the request is refused with
 */
export async function startChatServer(
  answer: (request: ChatRequest) => string | number | Promise<string | number>,
): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    incoming.on('end', async () => {
      // Sound: what this repository's own client sends (packages/llm).
      const {
        model,
        messages,
        stream = false,
      } = JSON.parse(body) as {
        model: string;
        messages: { content: string }[];
        stream?: boolean;
      };
      const { authorization } = incoming.headers;
      const system = messages.length > 1 ? (messages[0]?.content ?? '') : '';
      const request = { model, asked: messages.at(-1)?.content ?? '', system, stream, authorization };
      requests.push(request);
      const said = await answer(request);
      if (typeof said === 'number') outgoing.statusCode = said;
      const content = typeof said === 'number' ? '' : said;
      const usage = { prompt_tokens: body.length >> 2, completion_tokens: content.length >> 2 };
      if (stream && typeof said === 'string') {
        outgoing.setHeader('content-type', 'text/event-stream');
        for (const piece of content.match(/[\s\S]{1,7}/g) ?? []) {
          outgoing.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
        }
        outgoing.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
        return;
      }
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  // Sound: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
