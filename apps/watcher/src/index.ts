export { createWatcherApp, type WatcherApp } from './app.js';
export type { WatchedSource, WatcherDeps } from './watched-source.js';
