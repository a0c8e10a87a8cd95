import { createHash } from 'node:crypto';
import { SluiceError } from '@sluice/core';
import { findProgram, lastLine, runCommand } from '../system/commands.js';
import type { Environment, Workplace } from '../system/workplace.js';

/** The container engine that answers: a docker command alone is none. Error `not_ready` with the reason. */
export async function findEngine(env: Environment): Promise<string> {
  const reasons: string[] = [];
  for (const name of ['docker', 'podman']) {
    if ((await findProgram(name, env)) === undefined) continue;
    const result = await runCommand(name, ['info', '--format', '{{.ID}}{{.Host}}'], { env, timeoutMs: 5_000 });
    const plain = result.code === 0 ? result : await runCommand(name, ['info'], { env, timeoutMs: 5_000 });
    if (plain.code === 0 && !/cannot connect|error during connect/i.test(plain.stderr)) return name;
    reasons.push(`${name}: ${lastLine(plain)}`);
  }
  throw new SluiceError(
    'not_ready',
    reasons.length === 0 ? 'no docker or podman command' : `no container engine answers (${reasons.join('; ')})`,
  );
}

/** Errors when the image is not here and may not be fetched. */
export async function checkImage(engine: string, image: string, workplace: Workplace): Promise<void> {
  const found = await runCommand(engine, ['image', 'inspect', image], { env: workplace.env, timeoutMs: 10_000 });
  if (found.code === 0) return;
  if (workplace.offline)
    throw new SluiceError('not_ready', `the image ${image} is not here and SLUICE_OFFLINE=1 forbids fetching it`);
  workplace.say(`fetching the container image ${image}`);
}

/** Name of the container and of its volume: one pair a data folder. */
export function containerName(service: string, dataFolder: string): string {
  return `sluice-${service}-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 10)}`;
}
