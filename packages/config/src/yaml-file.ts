import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Path, Problem } from './problems.js';

/** A parsed file that knows where each of its values stands. */
export interface YamlFile {
  data: unknown;
  problems: Problem[];
  /** Line of the key (or list entry) at a path; of the nearest part above it that exists. */
  lineOf(path: Path): number | undefined;
}

export function parseYamlFile(text: string, origin: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', schema: 'core', lineCounter: lines, prettyErrors: false });
  const problems = document.errors.map(
    (error): Problem => ({
      origin,
      line: lines.linePos(error.pos[0]).line,
      path: '',
      message: `not valid YAML: ${error.message}`,
    }),
  );
  const lineOf = (path: Path) => {
    const offset = offsetOf(document, path);
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  if (problems.length > 0) return { data: undefined, problems, lineOf };
  try {
    return { data: document.toJS(), problems, lineOf };
  } catch (thrown) {
    const message = `not valid YAML: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return { data: undefined, problems: [{ origin, path: '', message }], lineOf };
  }
}

function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0];
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(part));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0]; // every node of a parsed document has a range
}
