import { type Caller, type ChunkStore, type Clock, type CommitRecord, topCommit } from '@sluice/core';
import type { DocumentAccess, FieldCatalog } from '@sluice/metadata';
import { accessOf, decisiveRecords, mayKnowOf } from '../may-know.js';

/** How old the values may be that questions are compared with, milliseconds. */
const MAX_AGE_MS = 30_000;
/** Texts of documents themselves, and names of documents: nobody filters by them in passing. */
const LEFT_OUT = new Set(['doc_id', 'source_path', 'doc_title', 'version', 'allowed_groups', 'kind', 'lang', 'source']);

/** Values of text fields, by field. */
export type Values = Map<string, Set<string>>;

/** Values of the documents of a source that need the same access. */
interface Group {
  source: string;
  access: DocumentAccess[];
  values: Values;
}

/** What documents say in their metadata, for those who may know of the documents. */
export function createKnownValues({ store, clock, catalog }: { store: ChunkStore; clock: Clock; catalog: FieldCatalog }) {
  const fields = [...catalog].filter(([name, { type }]) => type === 'text' && !LEFT_OUT.has(name)).map(([name]) => name);
  let read: { at: number; groups: Promise<Group[]> } | undefined;

  async function readGroups(): Promise<Group[]> {
    const groups = new Map<string, Group>();
    for await (const records of store.walkRecords()) {
      const commit = topCommit(records);
      if (commit === undefined || commit.chunks === 0) continue;
      const access = decisiveRecords(records).map(accessOf);
      const { source } = commit;
      const key = JSON.stringify([source, access]);
      const group = groups.get(key) ?? { source, access, values: new Map() };
      groups.set(key, group);
      for (const field of fields) addValues(group.values, field, valuesIn(commit, field));
    }
    return [...groups.values()];
  }

  return async (caller: Caller, maxAgeMs: number = MAX_AGE_MS): Promise<Values> => {
    const now = clock.monotonic();
    if (read === undefined || now - read.at >= maxAgeMs) {
      const groups = readGroups();
      read = { at: now, groups };
      // The next question reads again what could not be read.
      groups.catch(() => {
        read = undefined;
      });
    }
    const known: Values = new Map();
    for (const { source, access, values } of await read.groups) {
      if (!access.every((one) => mayKnowOf(caller, source, one))) continue;
      for (const [field, texts] of values) addValues(known, field, [...texts]);
    }
    return known;
  };
}

function valuesIn({ metadata }: CommitRecord, field: string): string[] {
  const { fields, ...builtIn } = metadata;
  const value: unknown = { ...fields, ...builtIn }[field];
  return [value].flat().filter((one) => typeof one === 'string');
}

function addValues(values: Values, field: string, texts: readonly string[]): void {
  const known = values.get(field) ?? new Set();
  for (const text of texts) known.add(text);
  values.set(field, known);
}
