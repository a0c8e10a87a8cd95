import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { junkKind } from './junk.js';

const page = readFileSync(new URL('../../../docs/ignored-names.md', import.meta.url), 'utf8');
const [, files = '', folders = ''] = page.split(/^## .*$/m);

/** Each name of a table with its kind. */
function namesOf(section: string): [string, string][] {
  return section
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, kind, names]) => kind !== undefined && names?.startsWith('`'))
    .flatMap(([, kind = '', names = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string] => [name, kind]),
    );
}

describe('docs/ignored-names.md', () => {
  it.each(namesOf(files))('names the kind of the file %s', (name, kind) => expect(junkKind(name, 'file')).toBe(kind));
  it.each(namesOf(folders))('names the kind of the folder %s', (name, kind) => expect(junkKind(name, 'folder')).toBe(kind));

  it.each([
    'plan.md',
    'recycle',
    'Recycling.md',
    'snapshot',
    'snapshots',
    '@team',
    'trash',
    'tmp',
    'sync.md',
    'versions',
    'a@b.md',
    'part.docx',
    'download',
  ])('%s is an ordinary name', (name) => {
    expect(junkKind(name, 'file')).toBeUndefined();
    expect(junkKind(name, 'folder')).toBeUndefined();
  });
});
