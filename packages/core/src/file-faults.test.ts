import { expect, it } from 'vitest';
import { fileFaultKind } from './file-faults.js';

it.each([
  ['EIO', 'transient'],
  ['ESTALE', 'transient'],
  ['EMFILE', 'transient'],
  ['EACCES', 'permanent'],
  ['EISDIR', 'permanent'],
  [undefined, 'permanent'],
])('a file that cannot be read with %s has a %s fault', (code, kind) => {
  expect(fileFaultKind(Object.assign(new Error('no'), { code }))).toBe(kind);
});
