import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Language, Parser, type Tree } from 'web-tree-sitter';

const require = createRequire(import.meta.url);

/** Grammar files by language, as the packages that carry them name them. */
const GRAMMARS: Readonly<Record<string, () => string>> = {
  typescript: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm'),
  tsx: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm'),
  javascript: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm'),
  python: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm'),
  go: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-go.wasm'),
  rust: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-rust.wasm'),
  java: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-java.wasm'),
  cpp: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-cpp.wasm'),
  shell: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm'),
  csharp: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-c-sharp.wasm'),
  ruby: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-ruby.wasm'),
  php: () => require.resolve('@vscode/tree-sitter-wasm/wasm/tree-sitter-php.wasm'),
  c: () => require.resolve('tree-sitter-c/tree-sitter-c.wasm'),
};

/** The longest a file may take to parse; a longer one is read by its blank lines. */
const PARSE_MS = 10_000;

// Grammars stay compiled for as long as the process lives: each is read once.
const loaded = new Map<string, Promise<Language>>();
let started: Promise<void> | undefined;

/** The syntax tree of a source text; undefined for a language without a grammar, or one that takes too long. The caller deletes it. */
export async function parseSource(text: string, language: string): Promise<Tree | undefined> {
  const file = GRAMMARS[language]?.();
  if (file === undefined) return undefined;
  started ??= Parser.init();
  await started;
  let grammar = loaded.get(file);
  if (grammar === undefined) {
    grammar = readFile(file).then((bytes) => Language.load(bytes));
    loaded.set(file, grammar);
  }
  const parser = new Parser();
  try {
    parser.setLanguage(await grammar);
    const deadline = performance.now() + PARSE_MS;
    return parser.parse(text, null, { progressCallback: () => performance.now() > deadline }) ?? undefined;
  } finally {
    parser.delete();
  }
}
