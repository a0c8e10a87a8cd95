import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** `hang`: connections stand, nothing passes, as behind a dropped route. `refuse`: connections are reset. */
export type ProxyMode = { kind: 'open' } | { kind: 'slow'; delayMs: number } | { kind: 'hang' } | { kind: 'refuse' };

/** A TCP proxy on a port of its own before a service, which can be made slow, unreachable or cut. */
export async function createProxy(targetPort: number) {
  let mode: ProxyMode = { kind: 'open' };
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    if (mode.kind === 'refuse') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    join(client, upstream);
    join(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');

  /** What comes from one side goes to the other, in order, as late as the mode says. */
  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    let last: Promise<void> = Promise.resolve();
    from.on('data', (data) => {
      const current = mode;
      if (current.kind === 'open') {
        last = last.then(() => void to.write(data));
      } else if (current.kind === 'slow') {
        const due = new Promise<void>((resolve) => setTimeout(resolve, current.delayMs));
        last = last.then(() => due).then(() => void to.write(data));
      }
    });
    from.on('end', () => {
      last = last.then(() => void to.end());
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    port: address.port,
    set(next: ProxyMode) {
      const left = mode;
      mode = next;
      // What was swallowed while nothing passed is lost, so those connections can't go on.
      if (next.kind === 'refuse' || left.kind === 'hang') cut();
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

export type TcpProxy = Awaited<ReturnType<typeof createProxy>>;
