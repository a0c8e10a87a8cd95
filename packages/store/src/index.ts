export { analyseText } from './analyse-text.js';
export { type FusedHit, fuse, type RawHit, type RawPool } from './fusion.js';
export { createKeyStore, type KeyStoreOptions } from './key-store.js';
export type { RecordHead } from './record-codec.js';
export { createSeenCommits, type SeenCommits } from './seen-commits.js';
export { type StoreSettings, storeSchema } from './settings.js';
export { createStore, type StoreOptions } from './store.js';
export { createVisibleSearch, type Pins, type VisibleSearchDeps } from './visible-search.js';
