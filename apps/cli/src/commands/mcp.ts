import { once } from 'node:events';
import { stdin } from 'node:process';
import type { CallToolResult, InitializeResult, ListToolsResult } from '@modelcontextprotocol/server';
import { SluiceError, toSluiceError, VERSION } from '@sluice/core';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import type { Api } from '../responses.js';

/** The revision of the protocol in which the API is called; whatever the agent speaks, its messages are put into this one. */
const PROTOCOL = '2025-06-18';

/** The tools of the running instance, for agents that start their servers as processes. */
export function mcpCommand(program: Command, run: Run): void {
  program
    .command('mcp')
    .description('serve the tools for agents (Model Context Protocol) on stdin and stdout')
    .action(
      run(async ({ api, signal }) => {
        // Asked for each call: the instance may be started again, at another address.
        const ask = async <T>(method: string, params: object, cancelled: AbortSignal) =>
          callApi<T>(await api(), { method, params, signal: cancelled });
        const clientInfo = { name: 'sluice', version: VERSION };
        const hello = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo };
        const { serverInfo, instructions } = await ask<InitializeResult>('initialize', hello, signal);

        const { Server } = await import('@modelcontextprotocol/server');
        const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
        const stdio = serveStdio(() => {
          const options = { capabilities: { tools: {} }, ...(instructions === undefined ? {} : { instructions }) };
          const server = new Server(serverInfo, options);
          server.setRequestHandler('tools/list', (_request, { mcpReq }) => ask<ListToolsResult>('tools/list', {}, mcpReq.signal));
          server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
            try {
              return await ask<CallToolResult>('tools/call', { name, arguments: given }, mcpReq.signal);
            } catch (error) {
              const { code, message } = toSluiceError(error);
              return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
            }
          });
          return server;
        });
        try {
          await once(stdin, 'end', { signal });
        } finally {
          await stdio.close();
        }
        return EXIT.done;
      }),
    );
}

/** One call of a method, without a session. */
async function callApi<T>(
  client: Api,
  { method, params, signal }: { method: string; params: object; signal: AbortSignal },
): Promise<T> {
  const { data } = await client.POST('/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params } },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': PROTOCOL },
    parseAs: 'text',
    signal,
  });
  // A message alone, or the last event of a stream.
  const text = String(data);
  const message: unknown = JSON.parse(
    text
      .match(/^data: (.*)$/gm)
      ?.at(-1)
      ?.slice('data: '.length) ?? text,
  );
  // By the protocol one of them; the API is of this version.
  const { result, error } = message as { result?: T; error?: { message: string } };
  if (result === undefined) throw new SluiceError('internal', error?.message ?? `The API gave no answer to ${method}.`);
  return result;
}
