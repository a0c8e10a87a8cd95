import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWordEmbedder } from './word-models.js';

/** What an embedding server was asked. */
export interface EmbeddingRequest {
  model: string;
  input: string[];
  dimensions?: number;
  authorization: string | undefined;
  url: string | undefined;
}

/** What it does with a request other than to answer it: an answer of one's own, or none. */
export type Misbehaviour = (request: EmbeddingRequest, response: ServerResponse, vectors: number[][]) => void;

export interface EmbeddingServer {
  /** What `embedding.base_url` is set to. */
  baseUrl: string;
  readonly requests: EmbeddingRequest[];
  /** Requests being answered, and the most at a time so far. */
  readonly most: number;
  /** Set to make it misbehave; undefined: it answers. */
  behave: Misbehaviour | undefined;
  close(): Promise<void>;
}

/**
 * A real HTTP server on this machine that speaks OpenAI's embeddings. A text's vector is the sum of fixed directions of its words, so
 * that texts that share words are near each other.
 *
 * @param dimensions length of its vectors
 * @param port to listen on; default: any free one
 */
export async function startEmbeddingServer(dimensions = 64, port = 0): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const embedder = createWordEmbedder(dimensions);
  let running = 0;
  const state = { most: 0, behave: undefined as Misbehaviour | undefined };
  const server = createServer(async (incoming, outgoing) => {
    running += 1;
    state.most = Math.max(state.most, running);
    outgoing.on('close', () => {
      running -= 1;
    });
    const request = await readRequest(incoming);
    requests.push(request);
    const vectors = (await embedder.embed(request.input)).map((vector) => [...vector]);
    if (state.behave !== undefined) return state.behave(request, outgoing, vectors);
    sendVectors(outgoing, vectors);
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  // Sound: a server that listens on a port has an address of this shape.
  const address = server.address() as AddressInfo;
  return Object.assign(state, {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}

/** The answer of a server that works. */
export function sendVectors(response: ServerResponse, vectors: readonly (readonly unknown[])[], tokens = 7): void {
  response.setHeader('content-type', 'application/json');
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  response.end(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: tokens, total_tokens: tokens } }));
}

async function readRequest(incoming: IncomingMessage): Promise<EmbeddingRequest> {
  let body = '';
  for await (const part of incoming) body += String(part);
  // Sound: what this repository's own client sends (packages/models).
  const { model, input, dimensions } = JSON.parse(body) as EmbeddingRequest;
  return {
    model,
    input,
    ...(dimensions === undefined ? {} : { dimensions }),
    authorization: incoming.headers.authorization,
    url: incoming.url,
  };
}
