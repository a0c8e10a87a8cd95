import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../system/files.js';
import { isRunning } from '../system/processes.js';

const processRefSchema = z.object({ pid: z.int().positive(), born: z.string().optional() });

const launchSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('program'),
    program: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    cwd: z.string(),
    logFile: z.string(),
    collectedIn: z.string().optional(),
  }),
  z.object({ kind: z.literal('container'), engine: z.string(), name: z.string(), args: z.array(z.string()) }),
]);

const serviceSchema = z.object({
  role: z.enum(['redis', 'weaviate']),
  url: z.string(),
  apiKey: z.string().optional(),
  via: z.string(),
  version: z.string(),
  launch: launchSchema.optional(),
  process: processRefSchema.optional(),
});

/** What `<data folder>/run.json` holds: everything others need to find, and a later supervisor to take over, an instance. */
const runFileSchema = z.object({
  version: z.string(),
  state: z.enum(['starting', 'ready', 'stopping']),
  startedAt: z.string(),
  /** Watcher, worker, API, the services that run as programs, and the supervisor itself. */
  processes: z.array(
    z.object({
      role: z.string(),
      pid: z.int().positive(),
      born: z.string().optional(),
      /** How often the supervisor had to start it again. */
      restarts: z.int().nonnegative(),
    }),
  ),
  services: z.object({ redis: serviceSchema.optional(), weaviate: serviceSchema.optional() }),
  /** Address of the API, as `http://127.0.0.1:4180`. */
  api: z.string(),
  modelFolder: z.string().optional(),
});

export type RunFile = z.infer<typeof runFileSchema>;

function runFilePath(dataFolder: string): string {
  return join(dataFolder, 'run.json');
}

/** The run file of a data folder, or undefined when there is none that can be read. It may be of an instance that has ended. */
export async function readRunFile(dataFolder: string): Promise<RunFile | undefined> {
  try {
    const found = runFileSchema.safeParse(JSON.parse(await readFile(runFilePath(dataFolder), 'utf8')));
    return found.success ? found.data : undefined;
  } catch {
    return undefined;
  }
}

export async function writeRunFile(dataFolder: string, content: RunFile): Promise<void> {
  // For this user alone: the address of a Redis may hold its password.
  await writeAtomically(runFilePath(dataFolder), `${JSON.stringify(content, null, 2)}\n`, 0o600);
}

export async function removeRunFile(dataFolder: string): Promise<void> {
  await rm(runFilePath(dataFolder), { force: true });
}

/** The supervisor of the instance that runs on a data folder, if one does. */
export function runningSupervisor(runFile: RunFile | undefined): RunFile['processes'][number] | undefined {
  const supervisor = runFile?.processes.find((entry) => entry.role === 'supervisor');
  return supervisor !== undefined && isRunning(supervisor) ? supervisor : undefined;
}
