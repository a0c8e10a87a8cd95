import { SluiceError } from '@sluice/core';
import { isMap, isScalar, Lexer, LineCounter, Parser, parseDocument, visit, type YAMLMap } from 'yaml';

/** Aliases a text may resolve: more than that is not metadata but an attack ("billion laughs"). */
const MAX_ALIASES = 100;

/**
 * Deepest nesting of values: what is deeper would be lost to a stack overflow somewhere, and the composer's time grows exponentially with
 * the depth of explicit keys (`? ? ?`).
 */
const MAX_DEPTH = 50;
const TOO_DEEP = `values are nested deeper than ${MAX_DEPTH}`;

/** What the parser's stack holds for a level of nesting, at most: the collection, and the error or document around it. */
const STACK_PER_LEVEL = 2;

/** The names of access fields and what is likely meant as one of them. */
const ACCESS_WORDS = /(?:security|access)[\W_]{0,3}le?ve?ls?|allowed[\W_]{0,3}groups?|clearance/i;

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
    if (isTooDeep(text)) return { kind: 'error', message: TOO_DEEP };
    const lines = new LineCounter();
    const document = parseDocument(text, {
      ...{ version: '1.2', schema: 'core', merge: false, lineCounter: lines },
      // The library compares each key with each, and shows the place of each error: both take minutes where there are thousands.
      ...{ uniqueKeys: false, prettyErrors: false, logLevel: 'error' },
    });
    const errorAt = (offset: number, message: string): YamlReading => {
      const { line, col } = lines.linePos(offset);
      return { kind: 'error', message: `${firstLine(message)} at line ${line}, column ${col}` };
    };
    const fault = document.errors[0];
    if (fault !== undefined) return errorAt(fault.pos[0], fault.message);
    if (document.contents === null) return { kind: 'empty' };
    if (!isMap(document.contents)) return { kind: 'other' };
    let keyTwice: number | undefined;
    visit(document, {
      Map(_key, node) {
        keyTwice ??= findKeyTwice(node);
      },
      Scalar(_key, node) {
        if (typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
          node.value = node.source;
        }
      },
    });
    if (keyTwice !== undefined) return errorAt(keyTwice, 'Map keys must be unique');
    const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (depthOf(data) > MAX_DEPTH) return { kind: 'error', message: TOO_DEEP };
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

/** The parser keeps a stack of its own, so that it can be watched and left; what composes values from its tokens goes down by calls. */
function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH * STACK_PER_LEVEL) return true;
  }
  return false;
}

/** Offset of the first key that its map has already. */
function findKeyTwice({ items }: YAMLMap): number | undefined {
  const keys = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (keys.has(key.value)) return key.range?.[0] ?? 0;
    keys.add(key.value);
  }
  return undefined;
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
