import { SluiceError } from '@sluice/core';

export type Path = readonly (string | number)[];

/** One thing that is wrong with the configuration. */
export interface Problem {
  /** Where it was given: a file, `environment`, or `command line`. */
  origin: string;
  /** Line of the file, from 1. */
  line?: number;
  /** Path in the file as `sources[0].name`, or the variable's name. Empty for the whole. */
  path: string;
  message: string;
}

export function showPath(path: Path): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
}

function showProblem({ origin, line, path, message }: Problem): string {
  return `${origin}${line === undefined ? '' : `:${line}`}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** One error for all that is wrong, a line each, in the order of the file. `details.problems` has them as data. */
export function configurationError(problems: readonly Problem[]): SluiceError {
  const sorted = [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const count = sorted.length === 1 ? 'a problem' : `${sorted.length} problems`;
  return new SluiceError('invalid_configuration', `the configuration has ${count}:\n${sorted.map(showProblem).join('\n')}`, {
    details: { problems: sorted },
  });
}
