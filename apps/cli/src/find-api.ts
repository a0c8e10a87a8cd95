import { createClient } from '@sluice/client';
import { readRunFile } from '@sluice/launcher';
import { notRunning } from './exit.js';
import { httpFetch } from './http-fetch.js';
import type { Api } from './responses.js';
import { dataFolderOf, type Place } from './settings.js';

/** The API to talk to: the one that SLUICE_URL names, else that of the instance on the data folder. */
export async function findApi(place: Place): Promise<Api> {
  const { SLUICE_URL, SLUICE_API_KEY } = place.env;
  if (SLUICE_URL !== undefined && SLUICE_URL !== '') return clientOf(SLUICE_URL, SLUICE_API_KEY);
  const folder = dataFolderOf(place);
  const runFile = await readRunFile(folder);
  if (runFile === undefined || runFile.api === '') {
    throw notRunning(`Sluice does not run on ${folder}. Start it with "npm start" or "npx sluice up", or set SLUICE_URL.`);
  }
  return clientOf(runFile.api, SLUICE_API_KEY);
}

function clientOf(url: string, key: string | undefined): Api {
  return createClient({ url, fetch: httpFetch, ...(key === undefined || key === '' ? {} : { key }) });
}
