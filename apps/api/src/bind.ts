import { SluiceError } from '@sluice/core';
import type { ApiDeps } from './deps.js';
import { isLoopbackHost } from './hosts.js';
import { isValid } from './keys/gate.js';

/**
 * Refuses to listen where others reach this server as long as there is no key: without one nobody from elsewhere would be served.
 *
 * @throws SluiceError `invalid_configuration` with what to do; `not_ready` when the keys cannot be read
 */
export async function requireKeyToBind(
  { host, hostWithoutKey }: { host: string; hostWithoutKey: boolean },
  { ring, clock }: Pick<ApiDeps, 'ring' | 'clock'>,
): Promise<void> {
  if (isLoopbackHost(host) || hostWithoutKey) return;
  const keys = await ring.keys();
  if (keys.some((key) => isValid(key, clock.now()))) return;
  throw new SluiceError(
    'invalid_configuration',
    `api.host ${host} can be reached from other machines, and no key exists yet: start with 127.0.0.1, ` +
      'make a key with "sluice key create --name NAME --clearance 5 --role operator", then set api.host again',
  );
}
