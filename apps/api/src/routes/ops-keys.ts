import { type Caller, SluiceError, type StoredKey } from '@sluice/core';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { hasOperator } from '../keys/gate.js';
import { makeKey } from '../keys/key-text.js';
import { levelSchema } from '../schemas/acting.js';
import { problems } from '../schemas/problem.js';

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(['reader', 'operator', 'metrics']),
    clearance: z.int(),
    groups: z.array(z.string()),
    created_at: z.string(),
    expires_at: z.string().optional(),
  })
  .meta({ id: 'Key' });

const createBody = z.strictObject({
  name: z.string().trim().min(1).max(100),
  clearance: levelSchema,
  groups: z.array(z.string().trim().min(1).max(200)).max(1000).default([]),
  role: z.enum(['reader', 'operator', 'metrics']).default('reader'),
  expires_at: z.iso.datetime({ offset: true }).optional().describe('The key is refused from this instant on.'),
});

/** Keys are shown once, when they are made; the store keeps a hash. */
export function keyRoutes(app: HttpApp, { ring, clock }: Pick<ApiDeps, 'ring' | 'clock'>): void {
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
      const { expires_at, ...given } = body;
      const created_at = new Date(clock.now()).toISOString();
      const expires = expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() };
      const key: StoredKey = { id, hash, ...given, created_at, ...expires };
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
        response: { 200: z.object({ keys: z.array(keySchema) }), ...problems() },
      },
    },
    async () => ({ keys: (await ring.keys()).map(shown) }),
  );

  app.delete(
    '/ops/api/keys/:id',
    {
      schema: {
        tags: ['operators'],
        summary: 'Revoke a key',
        params: z.strictObject({ id: z.string().min(1).max(100) }),
        response: { 200: z.object({ revoked: z.string() }), ...problems(404) },
      },
    },
    async ({ params: { id }, caller }) => {
      const key = (await ring.keys()).find((candidate) => candidate.id === id);
      if (key === undefined) throw new SluiceError('not_found', `No key ${id}.`);
      checkGrant(caller, key);
      await ring.revoke(id);
      return { revoked: id };
    },
  );
}

/** Nobody hands out, or takes away, more than they have. The first operator's key is the machine's owner's to make, whatever it may do. */
function checkGrant(caller: Caller, { clearance, groups }: Pick<StoredKey, 'clearance' | 'groups'>): void {
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
}

function shown({ hash: _hash, ...key }: StoredKey) {
  return key;
}
