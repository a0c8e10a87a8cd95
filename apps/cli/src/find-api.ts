import { createClient } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import { readRunFile } from '@sluice/launcher';
import { notRunning } from './exit.js';
import { httpFetch } from './http-fetch.js';
import type { Api } from './responses.js';
import { dataFolderOf, type Place } from './settings.js';

/** The API to talk to: the one that SLUICE_URL names, else that of the instance on the data folder. */
export async function findApi(place: Place & { signal: AbortSignal }): Promise<Api> {
  const key = keyOf(place.env.SLUICE_API_KEY);
  const url = urlOf(place.env.SLUICE_URL);
  if (url !== undefined) return clientOf(url, key, place.signal);
  const folder = dataFolderOf(place);
  const runFile = await readRunFile(folder);
  if (runFile === undefined || runFile.api === '') {
    throw notRunning(`Sluice does not run on ${folder}. Start it with "npm start" or "npx sluice up", or set SLUICE_URL.`);
  }
  return clientOf(runFile.api, key, place.signal);
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
