import { createClient } from '@sluice/client';
import { readSecret } from '@sluice/config/secrets';
import { SluiceError } from '@sluice/core';
import { readRunFile } from '@sluice/launcher/run-file';
import { dataFolderOf, type Place } from './data-folder.js';
import { notRunning } from './exit.js';
import { httpFetch } from './http-fetch.js';
import type { Api } from './responses.js';

/**
 * The API to talk to: the one that SLUICE_URL names, else that of the instance on the data folder. Without SLUICE_API_KEY the calls
 * carry the operator token of the data folder, where this user can read it.
 */
export async function findApi(place: Place & { signal: AbortSignal }): Promise<Api> {
  const key = keyOf(place.env.SLUICE_API_KEY);
  const url = urlOf(place.env.SLUICE_URL);
  const folder = dataFolderOf(place);
  const api = (await readRunFile(folder))?.api || undefined;
  if (url === undefined && api === undefined) {
    throw notRunning(`Sluice does not run on ${folder}. Start it with "npm start" or "npx sluice up", or set SLUICE_URL.`);
  }
  const called = url ?? api ?? '';
  return clientOf(called, key ?? (isOwn(called, api) ? tokenOf(folder) : undefined), place.signal);
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The token goes to the instance of the data folder alone. In a container no run file names it, so an address of this machine is enough. */
function isOwn(url: string, api: string | undefined): boolean {
  if (api !== undefined) return new URL(url).origin === new URL(api).origin;
  return LOOPBACK.test(new URL(url).hostname);
}

/** Undefined too where another user owns the data folder: then the calls are those of a reader. */
function tokenOf(folder: string): string | undefined {
  try {
    return readSecret(folder, 'operator-token');
  } catch {
    return undefined;
  }
}

/** A variable that is set to nothing is not set. */
function urlOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === '') return text;
  throw new SluiceError('invalid_configuration', 'SLUICE_URL is no address of an API: expected one as http://127.0.0.1:4180');
}

function keyOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new SluiceError('invalid_configuration', 'SLUICE_API_KEY is no key: it holds white space or signs that no key has');
}

function clientOf(url: string, key: string | undefined, signal: AbortSignal): Api {
  const fetch = (request: Request) => httpFetch(request, signal);
  return createClient({ url, fetch, ...(key === undefined ? {} : { key }) });
}
