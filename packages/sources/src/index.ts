export {
  type CompareOptions,
  type ComparePolicy,
  type CompareSummary,
  compareSource,
  type Difference,
} from './compare-source.js';
export { createIgnoreReader, type IgnoreReader } from './ignore-reader.js';
export { createIgnoreRules, IGNORE_FILE, type IgnoreRules, type IgnoreSettings, type IgnoreVerdict } from './ignore-rules.js';
export { type Collected, collectKnown, type KnownDocument, type KnownDocuments } from './known-documents.js';
export { type Listed, type ListOptions, listSource } from './list-source.js';
export { createNodeFiles, lacksWatches } from './node-files.js';
export { createRootGuard, type FolderMarks, type RootGuard, type RootGuardOptions, type RootState } from './root-guard.js';
export { createSettler, type Settled, type Settler } from './settler.js';
export { createSourceView, type SourceView } from './source-view.js';
export { type StabilityOptions, waitUntilStable } from './stability.js';
export { loadVerifiedStats, type VerifiedStats } from './verified-stats.js';
export { type Change, type SourceWatch, type WatchOptions, watchSource } from './watch-source.js';
