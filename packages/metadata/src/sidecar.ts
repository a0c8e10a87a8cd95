import { SluiceError } from '@sluice/core';
import { readYaml, speaksOfAccess, unreadableYaml } from './yaml.js';

const SUFFIX = '.meta.yaml';

/** Sidecars are small; a longer one is refused rather than read into memory. In UTF-16 units. */
const MAX_SIDECAR = 262_144;

/** Bytes to read of a sidecar: four a character at most, and enough to tell that it is longer. */
export const MAX_SIDECAR_BYTES = 4 * MAX_SIDECAR + 4;

/** Whether a file name (or path) is that of a sidecar: never a document itself. */
export function isSidecar(name: string): boolean {
  const slash = name.lastIndexOf('/');
  return name.endsWith(SUFFIX) && name.length - slash - 1 > SUFFIX.length;
}

/** Path of the sidecar of a file: `a/b.pdf` -> `a/b.pdf.meta.yaml`. */
export function sidecarOf(path: string): string {
  return `${path}${SUFFIX}`;
}

/** Path of the file a sidecar speaks of: `a/b.pdf.meta.yaml` -> `a/b.pdf`. */
export function ownerOf(sidecarPath: string): string {
  if (!isSidecar(sidecarPath)) throw new RangeError(`not a sidecar: ${sidecarPath}`);
  return sidecarPath.slice(0, -SUFFIX.length);
}

/**
 * The mapping a sidecar holds; an empty file says nothing.
 *
 * @throws SluiceError `invalid_metadata` when it is too long, not YAML or no mapping. `details.access` is true when it speaks of level or
 *   groups: access must then fail closed.
 */
export function parseSidecar(text: string): Record<string, unknown> {
  const content = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  if (content.length > MAX_SIDECAR) {
    throw new SluiceError('invalid_metadata', `the sidecar is longer than ${MAX_SIDECAR} characters`, {
      details: { field: 'sidecar', access: true },
    });
  }
  const reading = readYaml(content);
  switch (reading.kind) {
    case 'mapping':
      return reading.data;
    case 'empty':
      return {};
    case 'error':
      throw unreadableYaml('the sidecar', reading.message, content);
    case 'other':
      throw new SluiceError('invalid_metadata', 'the sidecar is no mapping: write `name: value` lines', {
        details: { field: 'sidecar', access: speaksOfAccess(content) },
      });
  }
}
