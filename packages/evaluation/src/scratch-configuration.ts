import { dirname, resolve } from 'node:path';
import { SluiceError } from '@sluice/core';
import { parse } from 'yaml';
import type { IngestPoint } from './grid.js';

/** Where the documents of a comparison come from: a configuration file, or folders by name. */
export type ScratchSources = { file: string; text: string } | { folders: Record<string, string> };

/**
 * The configuration of a scratch instance, as JSON (which is YAML too): the sources with one way of chunking for all of them, and the
 * embedding of the point. What the file says of metadata, limits and services stays; its gate, its port and its rules of chunking do not.
 *
 * @throws SluiceError `invalid_configuration` where the file has no sources
 */
export function scratchConfiguration(sources: ScratchSources, point: Pick<IngestPoint, 'chunking' | 'embedding'>): string {
  const base = 'file' in sources ? mappingOf(parse(sources.text)) : { sources: foldersOf(sources.folders) };
  const folder = 'file' in sources ? dirname(sources.file) : '/';
  if (!Array.isArray(base.sources)) {
    throw new SluiceError('invalid_configuration', 'a comparison needs sources: name them in sluice.yaml');
  }
  const list: unknown[] = base.sources;
  const changed = list.map((given) => {
    const { path, rules, ...source } = mappingOf(given);
    const kept = Array.isArray(rules) ? rules.map((rule: unknown) => ruleWithout(rule, point.chunking !== undefined)) : undefined;
    return {
      ...source,
      ...(typeof path === 'string' ? { path: resolve(folder, path) } : {}),
      ...(kept === undefined ? {} : { rules: kept }),
      ...(point.chunking === undefined ? {} : { chunking: point.chunking }),
    };
  });
  const { eval: _gate, api: _api, sources: _sources, embedding, ...rest } = base;
  const model = { ...mappingOf(embedding), ...point.embedding };
  return JSON.stringify({ ...rest, sources: changed, ...(Object.keys(model).length > 0 ? { embedding: model } : {}) }, null, 2);
}

function foldersOf(folders: Readonly<Record<string, string>>): unknown[] {
  return Object.entries(folders).map(([name, path]) => ({ name, path, metadata: { security_level: 1 } }));
}

function ruleWithout(rule: unknown, chunkingIsSet: boolean): unknown {
  const { chunking, ...rest } = mappingOf(rule);
  return chunkingIsSet || chunking === undefined ? rest : { ...rest, chunking };
}

function mappingOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
