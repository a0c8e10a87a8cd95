import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const QUESTION = 'How do I generate a token with the v2 auth service?';
const SUMMARY = 'Generate an access token';
const endpoints = [
  { method: 'GET', path: '/health', description: 'Whether the service lives' },
  { method: 'POST', path: '/token', description: SUMMARY, params: { username: 'string', password: 'string' } },
  { method: 'POST', path: '/token/refresh', description: 'Refresh an expired token', params: { refresh_token: 'string' } },
  { method: 'DELETE', path: '/token/{id}', description: 'Revoke a token' },
  { method: 'GET', path: '/users/{id}', description: 'The profile of a user' },
];
const auth = (version: string) => ({ service: 'auth', version, endpoints });
const billing = {
  service: 'billing',
  version: 'v2',
  endpoints: [
    { method: 'POST', path: '/token', description: 'Generate a payment token' },
    { method: 'POST', path: '/invoices', description: 'Write an invoice' },
  ],
};

/** Files by name; the endpoint that is asked for is the one behind the last `"v2"` that `auth` stands beside. */
const LAYOUTS: Record<string, { files: Record<string, unknown>; indent: number }> = {
  'a file each': {
    files: { 'auth-v1.json': auth('v1'), 'auth-v2.json': auth('v2'), 'billing-v2.json': billing },
    indent: 2,
  },
  'a file each, in one line': {
    files: { 'auth-v1.json': auth('v1'), 'auth-v2.json': auth('v2'), 'billing-v2.json': billing },
    indent: 0,
  },
  'a list in one file': { files: { 'all.json': { services: [billing, auth('v1'), auth('v2')] } }, indent: 2 },
  'service and version behind their endpoints': {
    files: {
      'auth-v1.json': { endpoints, version: 'v1', service: 'auth' },
      'auth-v2.json': { endpoints, version: 'v2', service: 'auth' },
    },
    indent: 2,
  },
  'versions by name': {
    files: { 'auth.json': { service: 'auth', versions: { v1: { endpoints }, v2: { endpoints } } } },
    indent: 2,
  },
};

describe('service descriptions', () => {
  let sluice: Sluice;
  beforeAll(async () => {
    sluice = await createSluice();
    await sluice.up();
    for (const [index, { files, indent }] of Object.values(LAYOUTS).entries()) {
      for (const [name, content] of Object.entries(files)) {
        await sluice.write(`${index}/${name}`, JSON.stringify(content, null, indent));
      }
    }
    await sluice.write('tokens.md', '# Tokens\n\nA token is a piece of metal that stands for money in a machine.\n');
    await sluice.settle();
  });
  afterAll(() => sluice.close());

  it.each(Object.keys(LAYOUTS).map((name, index) => ({ name, index })))(
    'find the endpoint first: $name',
    async ({ name, index }) => {
      const files = Object.keys(LAYOUTS[name]?.files ?? {});
      const ids = [...files.map((file) => `inbox/${index}/${file}`), 'inbox/tokens.md'];
      for (const mode of ['hybrid', 'dense']) {
        const { results } = await sluice.search({ query: QUESTION, mode, filter: { doc_id: { $in: ids } } });
        const best = results[0];
        const path = best?.doc_id.slice('inbox/'.length) ?? '';
        expect(best?.text, mode).toContain(SUMMARY);
        if (files.length > 1) expect(path, mode).toBe(`${index}/auth-v2.json`);
        else {
          // Both versions stand in one file, v2 behind v1.
          const text = await readFile(join(sluice.folder, path), 'utf8');
          expect(best?.citation.start, mode).toBeGreaterThan(text.indexOf(SUMMARY) + SUMMARY.length);
        }
        expect(
          endpoints.filter(({ description }) => best?.text.includes(description)),
          mode,
        ).toHaveLength(1);
      }
    },
  );

  it('are found first among everything else', async () => {
    const { results } = await sluice.search({ query: QUESTION });
    expect(results[0]?.text).toContain(SUMMARY);
  });
});
