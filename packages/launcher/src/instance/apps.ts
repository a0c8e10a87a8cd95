import { fileURLToPath } from 'node:url';
import { compiledUrl } from '@sluice/core';
import type { Addresses, InstancePlan } from './plan.js';
import type { ProcessSpec } from './supervised-process.js';

export interface AppSpec extends ProcessSpec {
  /** Answers 200 once the instance is of use. */
  readyUrl?: string;
}

/** Worker, watcher and API, in the order of their start. All settings go by the environment, which config reads. */
export function standardApps(plan: InstancePlan, addresses: Addresses): AppSpec[] {
  const env = { ...plan.env, ...plan.appEnvironment(addresses) };
  return ['worker', 'watcher', 'api'].map((role) => ({
    role,
    args: ['--enable-source-maps', appMain(role)],
    env,
    cwd: plan.cwd,
    ...(role === 'api' ? { readyUrl: `${addresses.api}/readyz` } : {}),
  }));
}

/** The compiled program of an app: apps/NAME/dist/main.js, beside the packages. */
function appMain(role: string): string {
  return fileURLToPath(new URL(`../../../../apps/${role}/dist/main.js`, compiledUrl(import.meta.url, './apps.js')));
}
