import { SluiceError } from '@sluice/core';
import { readYaml, speaksOfAccess, unreadableYaml } from './yaml.js';

/** The name that the documentation gives comes first. JSON is YAML too. */
const SUFFIX = '.meta.yaml';
const OTHER_YAML = '.meta.yml';
const JSON_SUFFIX = '.meta.json';
/** `model.meta.json` is as likely a document of its own; `plan.pdf.meta.json` speaks of `plan.pdf`. */
const WITH_EXTENSION = /[^/]\.[a-z0-9]{1,8}$/i;
/** A sidecar's name in any letters: what no disk that tells case apart would find beside its file is still no document. */
const ANY_CASE = /^(.*[^/])\.meta\.(ya?ml|json)$/is;

/** Sidecars are small; a longer one is refused rather than read into memory. In UTF-16 units. */
const MAX_SIDECAR = 262_144;

/** Bytes to read of a sidecar: four a character at most, and enough to tell that it is longer. */
export const MAX_SIDECAR_BYTES = 4 * MAX_SIDECAR + 4;

/** Whether a file name (or path) is that of a sidecar: never a document itself. */
export function isSidecar(name: string): boolean {
  return findOwner(name) !== undefined;
}

/** Whether a sidecar is found under this name beside its file: `x.META.YAML` is not, on a disk that tells case apart. */
export function isReadSidecar(name: string): boolean {
  const owner = findOwner(name);
  return owner !== undefined && sidecarsOf(owner).includes(name);
}

/**
 * Paths at which the sidecar of a file may be, the usual one first: `a/b.pdf` -> `a/b.pdf.meta.yaml`, `a/b.pdf.meta.yml`,
 * `a/b.pdf.meta.json`. More than one at a time is an error of whoever wrote them. A name without extension has no `.meta.json`.
 */
export function sidecarsOf(path: string): string[] {
  return [SUFFIX, OTHER_YAML, ...(WITH_EXTENSION.test(path) ? [JSON_SUFFIX] : [])].map((suffix) => `${path}${suffix}`);
}

/** Path of the file a sidecar speaks of: `a/b.pdf.meta.yaml` -> `a/b.pdf`. */
export function ownerOf(sidecarPath: string): string {
  const owner = findOwner(sidecarPath);
  if (owner === undefined) throw new RangeError(`not a sidecar: ${sidecarPath}`);
  return owner;
}

function findOwner(path: string): string | undefined {
  const [, owner, language] = ANY_CASE.exec(path) ?? [];
  if (owner === undefined || language === undefined) return undefined;
  return language.toLowerCase() === 'json' && !WITH_EXTENSION.test(owner) ? undefined : owner;
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
