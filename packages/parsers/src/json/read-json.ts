import { SluiceError } from '@sluice/core';
import { closeContainer, type DataNode, NO_MEMBERS } from '../data/data-elements.js';

const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\n\r]*/y;

/**
 * Reads JSON with the place of every value (RFC 8259). Short containers are the leaves: what is inside is checked, not kept. Undefined when the text is no JSON.
 *
 * @throws SluiceError `limit_exceeded` when it nests deeper than the limit
 */
export function readJson(text: string, from: number, maxDepth: number): DataNode | undefined {
  let at = skip(from);

  function skip(start: number): number {
    SPACE.lastIndex = start;
    SPACE.exec(text);
    return SPACE.lastIndex;
  }

  function scalar(): DataNode | undefined {
    const start = at;
    const end = text.charAt(at) === '"' ? endOfString(text, at) : endOfLiteral(text, at);
    if (end === undefined) return undefined;
    at = end;
    return { kind: 'scalar', start, end, members: NO_MEMBERS, hasRecords: false };
  }

  function value(depth: number): DataNode | undefined {
    const open = text.charAt(at);
    if (open !== '{' && open !== '[') return scalar();
    if (depth >= maxDepth) throw new SluiceError('limit_exceeded', `JSON nested deeper than limits.depth allows (${maxDepth})`);
    const close = open === '{' ? '}' : ']';
    const node: DataNode = { kind: open === '{' ? 'object' : 'array', start: at, end: at, members: [], hasRecords: false };
    at = skip(at + 1);
    while (text.charAt(at) !== close) {
      const start = at;
      let key = String(node.members.length);
      if (open === '{') {
        const name = text.charAt(at) === '"' ? scalar() : undefined;
        if (name === undefined) return undefined;
        key = text.slice(name.start + 1, name.end - 1);
        if (key.includes('\\')) key = String(JSON.parse(`"${key}"`));
        at = skip(at);
        if (text.charAt(at) !== ':') return undefined;
        at = skip(at + 1);
      }
      const inner = value(depth + 1);
      if (inner === undefined) return undefined;
      node.members.push({ key, start, value: inner });
      at = skip(at);
      if (text.charAt(at) === ',') {
        at = skip(at + 1);
        if (text.charAt(at) === close) return undefined;
      } else if (text.charAt(at) !== close) return undefined;
    }
    node.end = ++at;
    return closeContainer(node);
  }

  const root = value(0);
  return root !== undefined && skip(at) === text.length ? root : undefined;
}

function endOfLiteral(text: string, start: number): number | undefined {
  LITERAL.lastIndex = start;
  return LITERAL.test(text) ? LITERAL.lastIndex : undefined;
}

/** Behind the closing quote. Read by hand: strings may be longer than what a regular expression can go back over. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code !== 0x5c) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return undefined;
    at = ESCAPE.lastIndex - 1;
  }
  return undefined;
}
