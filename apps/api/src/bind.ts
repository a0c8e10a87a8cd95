import { SluiceError } from '@sluice/core';
import type { ApiDeps } from './deps.js';
import { isLoopbackHost } from './hosts.js';
import { isValid } from './keys/gate.js';

/**
 * Refuses settings that let others in as long as there is no key: an address that other machines reach, and pages of every origin.
 *
 * @throws SluiceError `invalid_configuration` with what to do; `not_ready` when the keys cannot be read
 */
export async function requireKeyToBind(
  { host, hostWithoutKey, corsOrigins }: { host: string; hostWithoutKey: boolean; corsOrigins: readonly string[] },
  { ring, clock }: Pick<ApiDeps, 'ring' | 'clock'>,
): Promise<void> {
  const opened = [
    ...(isLoopbackHost(host) || hostWithoutKey ? [] : [`api.host ${host} can be reached from other machines`]),
    ...(corsOrigins.includes('*') ? ['api.cors_origins "*" admits every page of a browser'] : []),
  ];
  if (opened.length === 0) return;
  const keys = await ring.keys();
  if (keys.some((key) => isValid(key, clock.now()))) return;
  throw new SluiceError(
    'invalid_configuration',
    `${opened.join(', and ')}, and no key exists yet: start without that setting, ` +
      'make a key with "sluice key create --name NAME --clearance 5 --role operator", then set it again',
  );
}
