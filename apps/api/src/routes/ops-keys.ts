import { type Caller, SluiceError, type StoredKey } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { hasOperator } from '../keys/gate.js';
import { makeKey } from '../keys/key-text.js';
import { levelSchema } from '../schemas/acting.js';
import { problems } from '../schemas/problem.js';

const ROLES = ['reader', 'operator', 'metrics'] as const;
const ROLE = '`reader` searches, `operator` runs the instance too, `metrics` reads /metrics alone.';

const keySchema = z
  .object({
    id: z.string().describe('Names the key, for revoking it; no secret.'),
    name: z.string().describe('What it was called when it was made.'),
    role: z.enum(ROLES).describe(ROLE),
    clearance: z.int().describe('The highest security level that it opens, 1 to 5.'),
    groups: z.array(z.string()).describe('Groups that it is in.'),
    sources: z.array(z.string()).optional().describe('The only sources that it opens; absent: all.'),
    created_at: z.string().describe('When it was made: an instant, as 2024-04-10T12:00:00.000Z.'),
    expires_at: z.string().optional().describe('The instant from which on it is refused; absent: never.'),
    last_used_at: z.string().optional().describe('To the minute. Absent: not since the queue last began empty.'),
  })
  .meta({ id: 'Key' });

const createBody = z.strictObject({
  name: z.string().trim().min(1).max(100).describe('For people, 1 to 100 characters; need not be unique.'),
  clearance: levelSchema.describe('The highest security level that it opens, 1 to 5; at most your own.'),
  groups: z
    .array(z.string().trim().min(1).max(200))
    .max(1000)
    .default([])
    .describe('Groups that it is in, up to 1,000. Default: none.'),
  sources: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(1000)
    .optional()
    .describe('The only sources that it opens; default all.'),
  role: z.enum(ROLES).default('reader').describe(`${ROLE} Default \`reader\`.`),
  expires_at: z.iso.datetime({ offset: true }).optional().describe('The key is refused from this instant on.'),
});

/** Keys are shown once, when they are made; the store keeps a hash. */
export function keyRoutes(
  app: HttpApp,
  { ring, clock, keyUse, logger }: Pick<ApiDeps, 'ring' | 'clock' | 'keyUse' | 'logger'>,
): void {
  app.post(
    '/ops/api/keys',
    {
      schema: {
        tags: ['operators'],
        summary: 'Make a key',
        body: createBody,
        response: { 201: keySchema.extend({ key: z.string().describe('Shown this once.') }), ...problems() },
      },
    },
    async ({ body, caller }, reply) => {
      if (hasOperator(await ring.keys(), clock.now())) checkGrant(caller, body);
      if (body.expires_at !== undefined && Date.parse(body.expires_at) <= clock.now()) {
        throw new SluiceError('invalid_request', 'body/expires_at: lies in the past');
      }
      const { id, text, hash } = makeKey();
      const { expires_at, sources, ...given } = body;
      const created_at = new Date(clock.now()).toISOString();
      const expires = expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() };
      const within = sources === undefined ? {} : { sources };
      const key: StoredKey = { id, hash, ...given, ...within, created_at, ...expires };
      await ring.insert(key);
      return reply.code(201).send({ ...shown(key), key: text });
    },
  );

  app.get(
    '/ops/api/keys',
    {
      schema: {
        tags: ['operators'],
        summary: 'List keys',
        querystring: z.strictObject({}),
        response: { 200: z.object({ keys: z.array(keySchema).describe('All keys, without their secrets.') }), ...problems() },
      },
    },
    async () => {
      const used = await keyUse.all().catch((error: unknown) => {
        logger.warn({ err: error }, 'the queue does not answer: keys show no last use');
        return new Map<string, string>();
      });
      return { keys: (await ring.keys()).map((key) => ({ ...shown(key), ...lastUse(used.get(key.id)) })) };
    },
  );

  app.delete(
    '/ops/api/keys/:id',
    {
      schema: {
        tags: ['operators'],
        summary: 'Revoke a key',
        params: z.strictObject({ id: z.string().min(1).max(100).describe('Id of the key.') }),
        response: { 204: z.null().describe('Revoked.'), ...problems(404) },
      },
    },
    async ({ params: { id }, caller }, reply) => {
      const key = (await ring.keys()).find((candidate) => candidate.id === id);
      if (key === undefined) throw new SluiceError('not_found', `No key ${id}.`);
      checkGrant(caller, key);
      await ring.revoke(id);
      keyUse.forget(id);
      return reply.code(204).send(null);
    },
  );
}

/** What a key opens. */
interface Grant {
  clearance: StoredKey['clearance'];
  groups: readonly string[];
  sources?: readonly string[] | undefined;
}

/** Nobody hands out, or takes away, more than they have. The first operator's key is the machine's owner's to make, whatever it may do. */
function checkGrant(caller: Caller, { clearance, groups, sources }: Grant): void {
  if (clearance > caller.clearance) {
    throw new SluiceError(
      'forbidden',
      `Your clearance is ${caller.clearance}: a key of ${clearance} is not yours to make or revoke.`,
    );
  }
  const missing = groups.filter((group) => !caller.groups.includes(group));
  if (caller.clearance < 5 && missing.length > 0) {
    throw new SluiceError(
      'forbidden',
      `You are not in ${missing.join(', ')}: only operators of clearance 5 may grant any group.`,
    );
  }
  if (caller.sources !== undefined && !(sources ?? ['']).every((source) => mayReach(caller, source))) {
    throw new SluiceError(
      'forbidden',
      `Your key is limited to ${caller.sources.join(', ')}: keys that you make or revoke are too.`,
    );
  }
}

function lastUse(at: string | undefined): { last_used_at?: string } {
  return at === undefined ? {} : { last_used_at: at };
}

function shown({ hash: _hash, ...key }: StoredKey) {
  return key;
}
