import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FORMATS } from './formats.js';
import { formatsPage } from './formats-page.js';

it('docs/formats.md is what the registry says', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/formats.md', import.meta.url)), 'utf8');
  expect(page).toBe(formatsPage());
});

it('no two formats claim an extension, and none has a name twice', () => {
  const extensions = FORMATS.flatMap((entry) => entry.extensions);
  expect(new Set(extensions).size).toBe(extensions.length);
  expect(new Set(FORMATS.map((entry) => entry.format)).size).toBe(FORMATS.length);
});
