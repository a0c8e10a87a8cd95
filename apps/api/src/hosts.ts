import { isIP } from 'node:net';
import { SluiceError } from '@sluice/core';
import type { FastifyRequest } from 'fastify';

/** What a Host header must look like: a name, an IPv4 or a bracketed IPv6 address, and perhaps a port. Nothing is corrected first. */
const HOST = /^(?:([A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)|\[([0-9A-Fa-f:.]+)\])(?::(\d{1,5}))?$/;

/** Addresses that mean "all of this machine": to listen on, never to be called by. */
const WILDCARDS = new Set(['0.0.0.0', '::']);

/** True for addresses of this machine alone, IPv4 ones mapped into IPv6 included. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = unmapped(address);
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/** True for what `api.host` may be while there is no key. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopback(host);
}

function unmapped(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** The host of a Host header in lower case, without port and brackets; undefined for anything that is not plainly one. */
function hostOf(header: string): string | undefined {
  const [, name, six, port] = HOST.exec(header) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  if (six !== undefined) return isIP(six) === 6 ? six.toLowerCase() : undefined;
  return name?.toLowerCase();
}

/**
 * Refuses a call by a name that is not this server's: a foreign web page made a browser send it, by a name of its own that it points
 * here (DNS rebinding). That holds for calls with a key too: a browser may know one. An address needs no setting where it is the one that
 * the call came in at, since nobody can point an address elsewhere.
 */
export function checkHost(
  { headers, raw, socket }: Pick<FastifyRequest, 'headers' | 'raw' | 'socket'>,
  allowedHosts: ReadonlySet<string>,
): void {
  const headersOfHost = raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  const host = headersOfHost.length > 1 ? undefined : hostOf(headers.host ?? '');
  if (host !== undefined && isOurs(host, socket?.localAddress, allowedHosts)) return;
  throw new SluiceError(
    'forbidden',
    'The Host header names no address of this server: call it by 127.0.0.1, or add the name to api.allowed_hosts.',
  );
}

function isOurs(host: string, localAddress: string | undefined, allowedHosts: ReadonlySet<string>): boolean {
  if (host === 'localhost' || host === '127.0.0.1' || host === '::1') return true;
  if (WILDCARDS.has(host)) return false;
  return allowedHosts.has(host) || (localAddress !== undefined && host === unmapped(localAddress));
}
