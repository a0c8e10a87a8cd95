import { readRunFile } from '@sluice/launcher';
import { type Api, createApi } from './api.js';
import { notRunning } from './exit.js';
import { dataFolderOf, type Place } from './settings.js';

/** The API to talk to: the one that SLUICE_URL names, else that of the instance on the data folder. */
export async function findApi(place: Place): Promise<Api> {
  const { SLUICE_URL, SLUICE_API_KEY } = place.env;
  if (SLUICE_URL !== undefined && SLUICE_URL !== '') return createApi(SLUICE_URL, SLUICE_API_KEY);
  const folder = dataFolderOf(place);
  const runFile = await readRunFile(folder);
  if (runFile === undefined || runFile.api === '') {
    throw notRunning(`Sluice does not run on ${folder}. Start it with "npm start" or "npx sluice up", or set SLUICE_URL.`);
  }
  return createApi(runFile.api, SLUICE_API_KEY);
}
