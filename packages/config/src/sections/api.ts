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
});
