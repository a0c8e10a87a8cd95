import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SluiceError } from '@sluice/core';
import type { z } from 'zod';
import { readBareFolders } from './bare-folders.js';
import { buildConfig } from './build-config.js';
import { checkSources, isMapping } from './check-sources.js';
import type { Config, ConfigFlags, Environment } from './config.js';
import { describeIssue } from './describe-issue.js';
import { nearest } from './known-keys.js';
import { absolutePath, pathKind } from './paths.js';
import { configurationError, type Path, type Problem, showPath } from './problems.js';
import { given, readRuntime } from './runtime.js';
import { SECTIONS, type SectionName } from './sections/sections.js';
import { UNBUILT_SECTIONS } from './unbuilt.js';
import { parseYamlFile } from './yaml-file.js';

const FILE_NAME = 'sluice.yaml';

export interface ConfigInput {
  flags?: ConfigFlags;
  /** The environment: `process.env`. */
  env: Environment;
  /** The folder that paths of flags and variables are relative to, and where sluice.yaml is looked for. */
  cwd: string;
}

/** A configuration file as checked section by section. */
export interface CheckedFile {
  file: string | undefined;
  /** Folder that relative paths of the file are relative to. */
  base: string;
  /** Sections that are there and valid; sources that are not are left out. */
  sections: Partial<Record<SectionName, unknown>>;
  /** Indexes in the file of the sources that are valid, in their order. */
  sourceIndexes: number[];
  /** Whether the file names the API's port. */
  portIsWritten: boolean;
  report(path: Path, message: string): void;
}

/**
 * Reads the configuration: flags over environment over sluice.yaml over defaults. The only reader of the environment besides the start
 * scripts. Without a file the folder `./inbox` is watched, at level 1.
 *
 * @throws SluiceError `invalid_configuration` with all problems, each with its path and, for the file, its line; `details.problems` has
 *   them as data. No value of a secret is repeated.
 */
export function loadConfig(input: ConfigInput): Config {
  const flags = input.flags ?? {};
  const problems: Problem[] = [];
  const runtime = readRuntime(flags, input.env, input.cwd, problems);
  const folders = readBareFolders(flags.sources, input.env, input.cwd, problems);
  const checked = checkFile(findFile(flags, input, problems), input.cwd, problems);
  const config = buildConfig({ flags, env: input.env, cwd: input.cwd, runtime, folders, checked, problems });
  if (problems.length > 0) throw configurationError(problems);
  return config;
}

function findFile(flags: ConfigFlags, { env, cwd }: ConfigInput, problems: Problem[]): string | undefined {
  const named = flags.config ?? given(env.SLUICE_CONFIG);
  if (named !== undefined) {
    const file = absolutePath(cwd, named, env.HOME);
    if (pathKind(file) === 'file') return file;
    const fromFlag = flags.config !== undefined;
    const origin = fromFlag ? 'command line' : 'environment';
    problems.push({ origin, path: fromFlag ? '--config' : 'SLUICE_CONFIG', message: `no file ${file}` });
    return undefined;
  }
  const file = join(cwd, FILE_NAME);
  if (pathKind(file) === 'file') return file;
  // Passed over in silence it would mean: everything readable at level 1.
  const misnamed = ['sluice.yml', '.sluice.yaml', '.sluice.yml', 'sluice.json'].find(
    (name) => pathKind(join(cwd, name)) === 'file',
  );
  if (misnamed !== undefined) {
    problems.push({
      origin: misnamed,
      path: '',
      message: `the configuration file is named ${FILE_NAME}: rename it, or set SLUICE_CONFIG`,
    });
  }
  return undefined;
}

function checkFile(file: string | undefined, cwd: string, problems: Problem[]): CheckedFile {
  const sections: CheckedFile['sections'] = {};
  const sourceIndexes: number[] = [];
  if (file === undefined) return { file, base: cwd, sections, sourceIndexes, portIsWritten: false, report: () => {} };

  const origin = pathWithinCwd(file, cwd);
  const yaml = parseYamlFile(readText(file, origin), origin);
  problems.push(...yaml.problems);
  const report = (path: Path, message: string) => {
    const line = yaml.lineOf(path);
    problems.push({ origin, path: showPath(path), message, ...(line === undefined ? {} : { line }) });
  };
  const data = yaml.data ?? {};
  const portIsWritten = isMapping(data) && isMapping(data.api) && data.api.port !== undefined;
  const checked = { file, base: dirname(file), sections, sourceIndexes, portIsWritten, report };
  if (!isMapping(data)) {
    if (yaml.problems.length === 0) report([], 'expected a mapping of sections, as `sources:`');
    return checked;
  }
  const validate = (schema: z.ZodType, value: unknown, prefix: Path): unknown => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) {
      for (const { path, message } of describeIssue(issue, prefix, data)) report(path, message);
    }
    return undefined;
  };
  for (const [name, value] of Object.entries(data)) {
    if (!isSection(name)) {
      const meant = nearest(name, Object.keys(SECTIONS));
      report(
        [name],
        meant === undefined
          ? `unknown section; known are ${Object.keys(SECTIONS).join(', ')}`
          : `unknown section; did you mean ${meant}?`,
      );
      continue;
    }
    // A section whose lines are all commented out says nothing.
    if (value === null) continue;
    const feature = UNBUILT_SECTIONS[name];
    if (feature !== undefined) {
      report([name], `${feature} is not built yet in this version: take the section out`);
      continue;
    }
    if (name !== 'sources' || !Array.isArray(value)) {
      sections[name] = validate(SECTIONS[name], value, [name]);
      continue;
    }
    // Source by source, so that a fault in one hides none of another.
    const valid: unknown[] = [];
    value.forEach((entry: unknown, at) => {
      const source = validate(SECTIONS.sources.element, entry, ['sources', at]);
      if (source === undefined) return;
      valid.push(source);
      sourceIndexes.push(at);
    });
    sections.sources = valid;
    checkSources(value, data.schema, report);
  }
  return checked;
}

function isSection(name: string): name is SectionName {
  return Object.hasOwn(SECTIONS, name);
}

function readText(file: string, origin: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'; // what node:fs throws
    throw new SluiceError('invalid_configuration', `${origin} cannot be read (${code}); check its permissions`, { cause });
  }
}

function pathWithinCwd(file: string, cwd: string): string {
  return file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file;
}
