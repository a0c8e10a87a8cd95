import { type Caller, type ChunkStore, type Clock, type CommitRecord, topCommit, topRecord } from '@sluice/core';
import { type DocumentAccess, type FieldCatalog, mayAccess } from '@sluice/metadata';

/** How old the values may be that questions are compared with, milliseconds. */
const MAX_AGE_MS = 30_000;
/** Texts of documents themselves, and names of documents: nobody filters by them in passing. */
const LEFT_OUT = new Set(['doc_id', 'source_path', 'doc_title', 'version', 'allowed_groups', 'kind', 'lang', 'source']);

/** Values of text fields, by field. */
export type Values = Map<string, Set<string>>;

/** Values of documents that need the same access. */
interface Group {
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
      const access = decisive(records).map(accessOf);
      const key = JSON.stringify(access);
      const group = groups.get(key) ?? { access, values: new Map() };
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
    for (const { access, values } of await read.groups) {
      if (!access.every((one) => mayAccess(caller, one))) continue;
      for (const [field, texts] of values) addValues(known, field, [...texts]);
    }
    return known;
  };
}

/** The records that a caller must all be cleared for: the top ones, and those that landed between them and what they were made from. */
function decisive(records: readonly CommitRecord[]): CommitRecord[] {
  const tops = [topRecord(records), topCommit(records)].filter((top) => top !== undefined);
  return records.filter((record) =>
    tops.some((top) => record.id === top.id || (record.fence > top.base_fence && record.fence <= top.fence)),
  );
}

function accessOf({ security_level, allowed_groups }: CommitRecord): DocumentAccess {
  return allowed_groups === undefined ? { security_level } : { security_level, allowed_groups };
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
