import { SluiceError } from '@sluice/core';
import type { Layout } from '../layout/context.js';
import type { CheckedSettings, Strategy } from '../settings.js';
import { auto } from './auto.js';
import { parentDocument } from './parent-document.js';
import { propositions } from './propositions.js';
import { recursive } from './recursive.js';
import { semantic } from './semantic.js';
import { sentenceWindow } from './sentence-window.js';
import type { Cut, StrategyDeps } from './strategy.js';

/** The version of each strategy. */
const VERSIONS: Record<Strategy, number> = {
  auto: auto.version,
  recursive: recursive.version,
  semantic: semantic.version,
  'sentence-window': sentenceWindow.version,
  propositions: propositions.version,
  'parent-document': parentDocument.version,
};

/** Grows when what all strategies share (sentences, packing, embedded text) gives other chunks. */
const ENGINE_VERSION = 5;

/** Identity of a strategy's code for the fingerprint: the same document, settings and version give the same chunks. */
export function chunkerVersion(strategy: string): string {
  const version = Object.entries(VERSIONS).find(([name]) => name === strategy)?.[1];
  if (version === undefined)
    throw new SluiceError('invalid_configuration', `chunking.strategy: there is no strategy "${strategy}"`);
  return `${strategy}/${ENGINE_VERSION}.${version}`;
}

export function cutBy(layout: Layout, settings: CheckedSettings, deps: StrategyDeps): Cut {
  switch (settings.strategy) {
    case 'auto':
      return auto.cut(layout, settings, deps);
    case 'recursive':
      return recursive.cut(layout, settings, deps);
    case 'semantic':
      return semantic.cut(layout, settings, deps);
    case 'sentence-window':
      return sentenceWindow.cut(layout, settings, deps);
    case 'propositions':
      return propositions.cut(layout, settings, deps);
    case 'parent-document':
      return parentDocument.cut(layout, settings, deps);
  }
}
