import { createHash } from 'node:crypto';
import { SluiceError } from '@sluice/core';
import { parse } from 'yaml';
import { z } from 'zod';

type Settings = Record<string, unknown>;

/** What a collection is made with. Where a member is missing, the configuration's own settings stay. */
export interface IngestPoint {
  /** Short and stable: the same settings have the same id. */
  id: string;
  name: string;
  chunking?: Settings;
  embedding?: Settings;
}

/** What a search is asked with, beside the question. */
export interface SearchPoint {
  id: string;
  name: string;
  settings: Settings;
}

export interface Grid {
  ingest: IngestPoint[];
  search: SearchPoint[];
}

const settingsList = z.array(z.record(z.string(), z.unknown())).min(1).max(100);
const gridSchema = z.strictObject({
  chunking: settingsList.optional(),
  embedding: settingsList.optional(),
  search: settingsList.default([{}]),
});

/** Points of a grid: more take days. */
const MOST = 500;

/**
 * Reads a grid: lists of settings under `chunking`, `embedding` and `search`. A setting with a list of values stands for each of them.
 * Every collection (chunking x embedding) is searched in every way.
 *
 * @throws SluiceError `invalid_request` naming the file
 */
export function readGrid(text: string, file: string): Grid {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new SluiceError('invalid_request', `${file} is not YAML`, { cause });
  }
  const checked = gridSchema.safeParse(value);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new SluiceError('invalid_request', `${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is no grid'}`);
  }
  const { chunking, embedding, search } = checked.data;
  const ingest = spread(chunking).flatMap((cut) =>
    spread(embedding).map((model): IngestPoint => {
      const settings = { ...(cut === undefined ? {} : { chunking: cut }), ...(model === undefined ? {} : { embedding: model }) };
      return { id: idOf(settings), name: nameOf({ ...cut, ...model }), ...settings };
    }),
  );
  const points = { ingest: distinct(ingest), search: distinct(spread(search).map(searchPoint)) };
  const count = points.ingest.length * points.search.length;
  if (count > MOST) throw new SluiceError('invalid_request', `${file} has ${count} points: at most ${MOST} can be compared`);
  return points;
}

function searchPoint(settings: Settings = {}): SearchPoint {
  return { id: idOf(settings), name: nameOf(settings), settings };
}

/** `{ alpha: [0.4, 0.6] }` as `{ alpha: 0.4 }` and `{ alpha: 0.6 }`; one undefined where there is no list. */
function spread(list: readonly Settings[] | undefined): (Settings | undefined)[] {
  return (
    list?.flatMap((settings) => {
      let all: Settings[] = [{}];
      for (const [name, value] of Object.entries(settings)) {
        const values: unknown[] = Array.isArray(value) ? value : [value];
        all = all.flatMap((before) => values.map((one) => ({ ...before, [name]: one })));
      }
      return all;
    }) ?? [undefined]
  );
}

function distinct<T extends { id: string }>(points: readonly T[]): T[] {
  return [...new Map(points.map((point) => [point.id, point])).values()];
}

/** Of settings, whatever the order of their members. */
function idOf(settings: object): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(settings)))
    .digest('hex')
    .slice(0, 12);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

function nameOf(settings: Settings): string {
  const parts = Object.entries(settings).map(([name, value]) =>
    name === 'strategy' || name === 'model' ? String(value) : `${name} ${String(value)}`,
  );
  return parts.length === 0 ? 'defaults' : parts.join(', ');
}
