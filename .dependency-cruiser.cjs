// The architecture's direction, at error (docs/architecture.md has the table with its reasons).

/** Packages in layers: one may import those of layers before its own, never of its own or later. */
const LAYERS = [
  ['core'],
  ['metadata', 'telemetry'],
  ['sources', 'queues', 'parsers', 'chunking', 'models', 'llm', 'store'],
  ['ingestion', 'retrieval'],
  ['evaluation', 'config', 'launcher', 'client'],
];
/** Config collects every package's settings, and the launcher starts what config describes. */
const WITHIN_A_LAYER = { config: ['evaluation'], launcher: ['config'] };

const packagePath = (names) => `^packages/(${names.join('|')})/`;

const directionRules = LAYERS.flatMap((names, layer) =>
  names.map((name) => ({
    name: `direction-${name}`,
    comment:
      'core <- metadata, telemetry <- sources, queues, parsers, chunking, models, llm, store <- ingestion, retrieval <- evaluation, config, launcher, client <- apps',
    severity: 'error',
    from: { path: `^packages/${name}/src/`, pathNot: '\\.test\\.ts$' },
    to: {
      path: packagePath(
        LAYERS.slice(layer)
          .flat()
          .filter((other) => other !== name && !(WITHIN_A_LAYER[name] ?? []).includes(other)),
      ),
    },
  })),
);

/** Libraries that one place alone may import, so that they can be exchanged and their quirks have one home. */
const ONE_IMPORTER = [
  { library: 'chokidar', importers: ['^packages/sources/'] },
  { library: 'bullmq', importers: ['^packages/queues/', '^apps/api/src/ops/'] },
  { library: 'weaviate-client', importers: ['^packages/store/'] },
  { library: '@xenova/transformers', importers: ['^packages/models/'] },
  { library: 'onnxruntime-node', importers: ['^packages/models/'] },
];

const importerRules = ONE_IMPORTER.map(({ library, importers }) => ({
  name: `one-importer-${library.replace(/[^a-z]+/g, '-').replace(/^-/, '')}`,
  comment: `${library} is imported by ${importers.join(' and ')} only`,
  severity: 'error',
  from: { path: '^(apps|packages|e2e)/', pathNot: importers },
  to: { path: `(^|/)node_modules/${library}(/|$)` },
}));

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'a type that two modules share makes no cycle when they run',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'packages of types alone (as mdast) have no module to resolve to',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(mdast|hast|unist)$' },
    },
    { name: 'no-package-to-app', severity: 'error', from: { path: '^packages/' }, to: { path: '^apps/' } },
    {
      name: 'no-app-to-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'testkit-in-tests-only',
      comment: 'fakes and fixture builders are for tests',
      severity: 'error',
      from: { path: '^(apps|packages)/', pathNot: ['\\.test\\.ts$', '/test/', '^packages/testkit/'] },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'public-entry-only',
      comment:
        'a package is used through its exports, not through files inside it; contract suites of testkit are entries of their own',
      severity: 'error',
      from: { path: '^(apps|packages)/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/(src|test)/',
        pathNot: [
          '^$1/$2/',
          '^packages/[^/]+/src/(index|settings)\\.ts$',
          '^packages/config/src/(environment|secrets)\\.ts$',
          '^packages/launcher/src/instance/run-file\\.ts$',
          '^packages/testkit/src/',
        ],
      },
    },
    ...directionRules,
    ...importerRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@sluice/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
