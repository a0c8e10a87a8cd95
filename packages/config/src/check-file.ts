import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SluiceError } from '@sluice/core';
import { modelTokens } from '@sluice/models';
import type { z } from 'zod';
import { checkSources, isMapping } from './check-sources.js';
import { describeIssue } from './describe-issue.js';
import { nearest } from './known-keys.js';
import { absolutePath } from './paths.js';
import { type Path, type Problem, showPath } from './problems.js';
import { SECTIONS, type SectionName } from './sections/sections.js';
import { createSourceSchema } from './sections/source.js';
import { parseYamlFile } from './yaml-file.js';

/** A configuration file as checked section by section. */
export interface CheckedFile {
  file: string | undefined;
  /** Folder that relative paths of the file are relative to. */
  base: string;
  /** Sections that are there and valid; sources that are not are left out. */
  sections: Partial<Record<SectionName, unknown>>;
  /** Folders of all sources that name one, faulty sources too, as written, with their index in the file. */
  folders: { name: string; path: string; index: number }[];
  /** Whether the file names the API's port. */
  portIsWritten: boolean;
  report(path: Path, message: string): void;
}

export interface FileContext {
  cwd: string;
  home: string | undefined;
  /** Folder of the embedding model where the environment names one; null: the environment names another way to come by it. */
  modelFolder: string | null | undefined;
}

/** Reads and checks a file section by section, so that a fault in one hides none of another. Without a file nothing is set. */
export function checkFile(file: string | undefined, { cwd, home, modelFolder }: FileContext, problems: Problem[]): CheckedFile {
  const sections: CheckedFile['sections'] = {};
  const folders: CheckedFile['folders'] = [];
  if (file === undefined) return { file, base: cwd, sections, folders, portIsWritten: false, report: () => {} };

  const origin = pathWithinCwd(file, cwd);
  const yaml = parseYamlFile(readText(file, origin), origin);
  problems.push(...yaml.problems);
  const report = (path: Path, message: string) => {
    const line = yaml.lineOf(path);
    problems.push({ origin, path: showPath(path), message, ...(line === undefined ? {} : { line }) });
  };
  const data = yaml.data ?? {};
  const portIsWritten = isMapping(data) && isMapping(data.api) && data.api.port !== undefined;
  const checked = { file, base: dirname(file), sections, folders, portIsWritten, report };
  if (!isMapping(data)) {
    if (yaml.problems.length === 0) report([], 'expected a mapping of sections, as `sources:`');
    return checked;
  }
  const absolute = (path: string) => absolutePath(checked.base, path, home);
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
    if (name !== 'sources' || !Array.isArray(value)) {
      sections[name] = validate(SECTIONS[name], value, [name]);
      continue;
    }
    // Source by source, so that a fault in one hides none of another.
    const valid: unknown[] = [];
    const sourceSchema = createSourceSchema(tokensOf(data.embedding, modelFolder, absolute));
    value.forEach((entry: unknown, at) => {
      if (isMapping(entry) && typeof entry.path === 'string' && entry.path !== '') {
        folders.push({ name: typeof entry.name === 'string' ? entry.name : `sources[${at}]`, path: entry.path, index: at });
      }
      const source = validate(sourceSchema, entry, ['sources', at]);
      if (source !== undefined) valid.push(source);
    });
    sections.sources = valid;
    checkSources(value, { schema: data.schema, llm: data.llm, absolute }, report);
  }
  return checked;
}

/** What the embedding model takes, as far as it is known before the model is there. */
function tokensOf(section: unknown, folder: string | null | undefined, absolute: (path: string) => string): number {
  const embedding = SECTIONS.embedding.safeParse(section ?? {});
  const { model, path, base_url, max_tokens } = embedding.success ? embedding.data : SECTIONS.embedding.parse({});
  if (max_tokens != null) return max_tokens;
  const written = path == null ? undefined : absolute(path);
  return modelTokens(model, folder === undefined || base_url != null ? written : (folder ?? undefined));
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
