import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { choosePort, freePorts, isPortFree } from './ports.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Takes a port whose next one is free. */
async function takePort(host: string | undefined): Promise<number> {
  for (;;) {
    const [port = 0] = await freePorts(1);
    if (!(await isPortFree(port + 1))) continue;
    const server = createServer();
    server.listen({ port, host });
    await once(server, 'listening');
    servers.push(server);
    return port;
  }
}

describe('choosePort', () => {
  it('gives the wanted port when it is free', async () => {
    const [port = 0] = await freePorts(1);
    expect(await choosePort(port, false)).toBe(port);
  });

  it.each(['127.0.0.1', undefined])('gives the next free port for a default that is taken (on %s)', async (host) => {
    const port = await takePort(host);
    expect(await choosePort(port, true)).toBe(port + 1);
  });

  it('is an error for a taken port that somebody set', async () => {
    const port = await takePort('127.0.0.1');
    await expect(choosePort(port, false)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(String(port)),
    });
  });
});

describe('freePorts', () => {
  it('gives different ports, and wanted ones where they are free', async () => {
    const taken = await takePort(undefined);
    const [free = 0] = await freePorts(1);
    const ports = await freePorts(3, [free, taken]);
    expect(ports[0]).toBe(free);
    expect(ports[1]).not.toBe(taken);
    expect(new Set(ports).size).toBe(3);
  });
});
