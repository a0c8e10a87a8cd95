import { createServer, type Server } from 'node:net';
import { SluiceError } from '@sluice/core';

function listen(port: number, host: string | undefined): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** True when nobody listens on the port, neither on loopback nor on all addresses. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  for (const address of host === '127.0.0.1' || host === 'localhost' ? [host, undefined] : [host]) {
    const server = await listen(port, address);
    if (server === undefined) return false;
    await close(server);
  }
  return true;
}

/** Different free ports, held together while they are chosen. Wanted ones are taken where they are free. */
export async function freePorts(count: number, wanted: readonly number[] = []): Promise<number[]> {
  const servers: Server[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const preferred = wanted[index];
      const server = (preferred === undefined ? undefined : await listen(preferred, undefined)) ?? (await listen(0, undefined));
      if (server === undefined) throw new SluiceError('not_ready', 'this machine gives no free port to listen on');
      servers.push(server);
    }
    return servers.map((server) => {
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    });
  } finally {
    await Promise.all(servers.map(close));
  }
}

/** How many ports after a taken default are tried. */
const NEXT_PORTS = 50;

/**
 * The port to listen on: the wanted one; when it is a default and taken, the next free one; when somebody set it and it is
 * taken, the error `invalid_configuration`. 0 is any free port.
 */
export async function choosePort(wanted: number, isDefault: boolean, host = '127.0.0.1'): Promise<number> {
  if (wanted === 0) return (await freePorts(1))[0] ?? 0;
  if (await isPortFree(wanted, host)) return wanted;
  if (!isDefault) {
    throw new SluiceError(
      'invalid_configuration',
      `port ${wanted} is taken by another program: free it, or set SLUICE_PORT (or api.port) to another`,
    );
  }
  for (let port = wanted + 1; port <= Math.min(wanted + NEXT_PORTS, 65_535); port += 1) {
    if (await isPortFree(port, host)) return port;
  }
  throw new SluiceError('not_ready', `ports ${wanted} to ${wanted + NEXT_PORTS} are all taken: set SLUICE_PORT to a free one`);
}
