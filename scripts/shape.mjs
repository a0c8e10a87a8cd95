// npm run shape: figures that show how complicated the code is, from the syntax tree and the import graph.
// They are compared over time by a reader; no test depends on them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The packages that a document passes through, whose size has a target of its own. */
const PIPELINE = ['packages/ingestion', 'packages/queues', 'packages/store', 'packages/sources', 'apps/worker', 'apps/watcher'];
const LONG_FUNCTION = 100;

const isTest = (file) => /\.test\.ts$|\/(test|testing)\//.test(file);

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/node_modules/') && !file.includes('/dist/'));
}

const packages = ['apps', 'packages'].flatMap((kind) =>
  readdirSync(join(root, kind)).map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, kind, name, 'package.json'), 'utf8'));
    return { folder: `${kind}/${name}`, name: manifest.name };
  }),
);
const files = [...packages.map(({ folder }) => folder), 'e2e', 'benchmarks', 'infra'].flatMap((folder) =>
  sourceFiles(join(root, folder)),
);
const trees = new Map(
  files.map((file) => [file, ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)]),
);

function nameOf(node) {
  const owner =
    node.name ?? (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined);
  return owner?.getText() ?? '(anonymous)';
}

/** Every function with a body: its name, length in lines and number of positional parameters. */
function functionsOf(tree) {
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const line = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
      const start = line(node.getStart());
      found.push({ name: nameOf(node), start, lines: line(node.end) - start + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The names that other packages import from each package, by module specifier. */
function importedNames() {
  const used = new Map();
  for (const [file, tree] of trees) {
    for (const statement of tree.statements) {
      if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))) continue;
      const specifier = statement.moduleSpecifier?.text;
      const owner = packages.find(({ name }) => specifier === name || specifier?.startsWith(`${name}/`));
      if (owner === undefined || file.startsWith(join(root, owner.folder, 'src'))) continue;
      const names = used.get(owner.name) ?? new Set();
      used.set(owner.name, names);
      const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
      if (bindings === undefined || !('elements' in bindings)) names.add('*');
      else for (const element of bindings.elements) names.add((element.propertyName ?? element.name).text);
    }
    // Names taken by a dynamic import: `const { a, b } = await import('...')`.
    for (const [, list, specifier] of tree.text.matchAll(/\{([^{}]*)\}\s*=\s*await import\(['"]([^'"]+)['"]\)/g)) {
      const owner = packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
      if (owner === undefined) continue;
      const names = used.get(owner.name) ?? new Set();
      used.set(owner.name, names);
      for (const item of list.split(',')) names.add(item.split(':')[0].trim());
    }
  }
  // The scripts at the root load the launcher at run time, and read its exports as `launcher.name`.
  const scripts = readdirSync(join(root, 'scripts')).map((name) => readFileSync(join(root, 'scripts', name), 'utf8'));
  const launcher = used.get('@sluice/launcher') ?? new Set();
  for (const [, name] of scripts.join('\n').matchAll(/\blauncher\.(\w+)/g)) launcher.add(name);
  return used;
}

/** Names that the entry of a package exports, and that no other package imports. */
function unusedEntryExports() {
  const used = importedNames();
  return packages.flatMap(({ folder, name }) => {
    const entry = trees.get(join(root, folder, 'src/index.ts'));
    if (entry === undefined || used.get(name)?.has('*')) return [];
    return entry.statements
      .filter((statement) => ts.isExportDeclaration(statement) && statement.exportClause !== undefined)
      .flatMap((statement) => statement.exportClause.elements.map((element) => element.name.text))
      .filter((exported) => !used.get(name)?.has(exported))
      .map((exported) => `${name}: ${exported}`);
  });
}

/** Cycles of relative imports, type-only imports included: strongly connected groups of more than one file. */
function cycles() {
  const edges = new Map();
  for (const [file, tree] of trees) {
    const targets = tree.statements
      .filter(
        (statement) =>
          (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
          statement.moduleSpecifier?.text.startsWith('.'),
      )
      .map((statement) => join(dirname(file), statement.moduleSpecifier.text.replace(/\.js$/, '.ts')))
      .filter((target) => trees.has(target));
    edges.set(file, targets);
  }
  const order = [];
  const state = new Map();
  const groups = [];
  const connect = (file) => {
    state.set(file, { index: state.size, low: state.size, open: true });
    order.push(file);
    const own = state.get(file);
    for (const target of edges.get(file)) {
      if (!state.has(target)) connect(target);
      const other = state.get(target);
      if (other.open) own.low = Math.min(own.low, other.low);
    }
    if (own.low !== own.index) return;
    const group = order.splice(order.indexOf(file));
    for (const member of group) state.get(member).open = false;
    if (group.length > 1) groups.push(group.map((member) => relative(root, member)));
  };
  for (const file of edges.keys()) if (!state.has(file)) connect(file);
  return groups;
}

const lineCount = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
const lineTotal = (some) => some.reduce((sum, file) => sum + lineCount(file), 0);
const inPipeline = files.filter((file) => !isTest(file) && PIPELINE.some((folder) => file.startsWith(join(root, folder, 'src'))));
const functions = inPipeline.flatMap((file) =>
  functionsOf(trees.get(file)).map((one) => ({ ...one, file: relative(root, file) })),
);
const long = functions.filter(({ lines }) => lines > LONG_FUNCTION).sort((a, b) => b.lines - a.lines);
const most = functions.reduce((most, one) => (one.parameters > most.parameters ? one : most));
const waits = inPipeline.filter((file) => /\bsetTimeout\(|\bsetInterval\(|\bsleep\(/.test(trees.get(file).text));
const unused = unusedEntryExports();
const found = cycles();

const place = ({ name, file, start }) => `${name} (${file}:${start})`;
const rows = [
  ['modules of the pipeline', inPipeline.length, ''],
  [
    'lines of the pipeline, without tests',
    lineTotal(inPipeline),
    PIPELINE.map(
      (folder) => `${basename(folder)} ${lineTotal(inPipeline.filter((file) => file.startsWith(join(root, folder))))}`,
    ).join(', '),
  ],
  [`functions over ${LONG_FUNCTION} lines`, long.length, long.map((one) => `${place(one)} ${one.lines}`).join(', ')],
  ['most positional parameters', most.parameters, place(most)],
  ['modules that wait by a timer', waits.length, waits.map((file) => basename(file)).join(', ')],
  ['entry exports that no other package uses', unused.length, unused.join(', ')],
  ['cycles of imports, types included', found.length, found.map((group) => group.join(' <-> ')).join('; ')],
];
for (const [what, figure, detail] of rows)
  console.log(`${String(figure).padStart(6)}  ${what}${detail === '' ? '' : `\n        ${detail}`}`);
