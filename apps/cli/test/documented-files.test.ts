import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Paths in backticks that begin with a folder of the code. */
function pathsIn(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/`((?:apps|packages|e2e|benchmarks|scripts)\/[^\s`*]+)`/g)].map(([, path = '']) => path);
}

it('names in the pages only files and folders that exist', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ];
  const named = pages.flatMap((page) => pathsIn(page).map((path) => ({ page, path })));
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(({ path }) => statSync(join(ROOT, path), { throwIfNoEntry: false }) === undefined);
  expect(missing).toEqual([]);
});
