import { SluiceError } from '@sluice/core';
import { isMap, parseDocument, visit } from 'yaml';

/** Aliases a text may resolve: more than that is not metadata but an attack ("billion laughs"). */
const MAX_ALIASES = 100;

/** Deepest nesting of values: what is deeper would be lost to a stack overflow somewhere. */
const MAX_DEPTH = 50;

const ACCESS_WORDS = /security_level|access_level|allowed_groups/i;

/** Whether a text speaks of access at all: when it can't be read, the level it meant is unknown and access must fail closed. */
export function speaksOfAccess(text: string): boolean {
  return ACCESS_WORDS.test(text);
}

export type YamlReading =
  | { kind: 'mapping'; data: Record<string, unknown> }
  /** White space or comments only. */
  | { kind: 'empty' }
  /** A scalar, a list, or several documents. */
  | { kind: 'other' }
  | { kind: 'error'; message: string };

/**
 * Reads YAML 1.2 (core schema). Dates stay text. A number is one only where it is written as JSON would write it: `007`, `1.10` and
 * numbers past 2^53 stay text, since a version or a part number would lose digits; number fields take such text all the same.
 */
export function readYaml(text: string): YamlReading {
  try {
    const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, merge: false });
    const fault = document.errors[0];
    if (fault !== undefined) return { kind: 'error', message: firstLine(fault.message) };
    if (document.contents === null) return { kind: 'empty' };
    if (!isMap(document.contents)) return { kind: 'other' };
    visit(document, {
      Scalar(_key, node) {
        if (typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
          node.value = node.source;
        }
      },
    });
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (depthOf(data) > MAX_DEPTH) return { kind: 'error', message: `values are nested deeper than ${MAX_DEPTH}` };
    return { kind: 'mapping', data: data as Record<string, unknown> }; // isMap: toJS gives an object with text keys
  } catch (thrown) {
    return { kind: 'error', message: thrown instanceof Error ? firstLine(thrown.message) : String(thrown) };
  }
}

/** The error of metadata that can't be read as YAML. `details.access` says that the text speaks of level or groups. */
export function unreadableYaml(what: string, message: string, text: string): SluiceError {
  return new SluiceError('invalid_metadata', `${what} is not valid YAML: ${message}`, {
    details: { field: what, access: speaksOfAccess(text) },
  });
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '');
}

function depthOf(value: unknown, depth = 0): number {
  if (depth > MAX_DEPTH || value === null || typeof value !== 'object') return depth;
  let deepest = depth;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, depth + 1));
  return deepest;
}
