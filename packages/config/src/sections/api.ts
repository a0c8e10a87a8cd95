import { isIP } from 'node:net';
import { securityLevelSchema } from '@sluice/metadata/settings';
import { z } from 'zod';

const originSchema = z
  .string()
  .refine((text) => text === '*' || isOrigin(text), 'expected an origin, as https://app.example.org, or "*"');

function isOrigin(text: string): boolean {
  try {
    const url = new URL(text);
    return url.origin === text && url.origin !== 'null';
  } catch {
    return false;
  }
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]{0,62}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,62}[a-z0-9_])?)*$/;

/** A name by which the API may be called: of DNS, or an IP address; without scheme and port. */
export const hostNameSchema = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(
    (text) => HOST_NAME.test(text) || isIP(text) !== 0,
    'expected a host name without scheme and port, as sluice.example.org',
  );

/** Section `api` of sluice.yaml. */
export const apiSchema = z.strictObject({
  /** Address to listen on; one that is not loopback is bound only once a key exists. */
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(4180),
  /** Whether calls without a key are served once keys exist. */
  anonymous: z.boolean().default(false),
  /** Clearance of calls without a key. */
  anonymous_clearance: securityLevelSchema.default(1),
  /** Web origins that browsers may call from. */
  cors_origins: z.array(originSchema).default([]),
  /** Names by which the API may be called, beside loopback, `host` and the address that a call came in at. */
  allowed_hosts: z.array(hostNameSchema).default([]),
  /** Calls a second that one key may make for long, and at once before that holds. Far above what one caller needs. */
  calls_per_s: z.number().positive().max(1_000_000).default(200),
  calls_burst: z.int().min(1).max(1_000_000).default(400),
  /** Calls of one key, or of one address without a key, that may run at once. */
  calls_at_once: z.int().min(1).max(100_000).default(200),
  /** Wrong keys a minute that one address may try for long, and at once before that holds. */
  bad_keys_per_min: z.number().positive().max(1_000_000).default(12),
  bad_keys_burst: z.int().min(1).max(1_000_000).default(10),
  /** Largest body of a request, in KiB. */
  body_kb: z.int().min(16).max(65_536).default(1024),
});
