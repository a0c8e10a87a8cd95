import {
  type ChunkObject,
  type ChunkStore,
  type CommitRecord,
  canonicalJson,
  chunkMetadataHash,
  type FieldValue,
  type Filter,
  isOfDocument,
  type Manifest,
  objectUuid,
  type Scalar,
  type SearchHit,
  type SearchRequest,
  SluiceError,
  type StoredChunk,
  type StoredObject,
  type StrayObject,
  topCommit,
} from '@sluice/core';
import { evaluateFilter, filterableValues } from '@sluice/metadata';

interface Page {
  id: string;
  doc_id: string;
  doc_uuid: string;
  fence: number;
  attempt: string;
  manifest: Manifest;
}

export interface MemoryStoreOptions {
  /** Unix milliseconds given to records as their creation; default the system's. */
  now?: () => number;
  /** Called before every operation with its name; what it throws, the operation throws. For faults at a chosen step. */
  before?: (operation: keyof ChunkStore, argument?: unknown) => void | Promise<void>;
}

export interface MemoryStore extends ChunkStore {
  /** What is stored, for tests to look at. */
  readonly contents: {
    chunks: ReadonlyMap<string, ChunkObject>;
    records: ReadonlyMap<string, CommitRecord>;
    pages: ReadonlyMap<string, unknown>;
  };
}

const BM25_B = 0.75;
const BM25_K1 = 1.2;
const POOL = 100;

/**
 * A store in memory under the same contract suite as the real one. It changes at one stroke, so its search needs no protocol: it looks at
 * the top commits and searches what they name. That makes it the reference for what the real one must return.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const chunks = new Map<string, ChunkObject>();
  const records = new Map<string, CommitRecord>();
  const pages = new Map<string, Page>();
  const now = options.now ?? (() => Date.now());
  const before = async (operation: keyof ChunkStore, argument?: unknown) => options.before?.(operation, argument);

  function recordsBy(docUuid: string): CommitRecord[] {
    return [...records.values()]
      .filter((record) => record.doc_uuid === docUuid && !isStray(record))
      .map((record) => structuredClone(record));
  }

  function insert<T extends { id: string; doc_id: string }>(map: Map<string, T>, object: T, same: (a: T, b: T) => boolean): void {
    const there = map.get(object.id);
    if (there === undefined) map.set(object.id, structuredClone(object));
    else if (!same(there, object)) {
      throw new SluiceError('store_rejected', `another object has the id ${object.id}`, { docId: object.doc_id });
    }
  }

  function stored({ vector, ...chunk }: ChunkObject, withVector: boolean): StoredChunk {
    return structuredClone(withVector ? { ...chunk, vector } : chunk);
  }

  /** Chunks that are live under their document's top commit, if the caller may see it. */
  function visible(request: SearchRequest): { chunk: ChunkObject; commit: CommitRecord }[] {
    const tops = new Map<string, CommitRecord | undefined>();
    const filter = normalFilter(request.filter);
    const found: { chunk: ChunkObject; commit: CommitRecord }[] = [];
    for (const chunk of chunks.values()) {
      if (!tops.has(chunk.doc_uuid)) tops.set(chunk.doc_uuid, permittedTop(recordsBy(chunk.doc_uuid), request));
      const commit = tops.get(chunk.doc_uuid);
      if (commit === undefined || isStray(chunk) || !commit.live.includes(chunk.rev) || commit.superseded.includes(chunk.id))
        continue;
      if (evaluateFilter(filter, normalValues(filterableValues(chunk.metadata, chunk)))) found.push({ chunk, commit });
    }
    return found;
  }

  return {
    contents: { chunks, records, pages },
    ensureSchema: () => before('ensureSchema'),
    checkSchema: () => before('checkSchema'),
    checkReady: () => before('checkReady'),

    async recordsOf(docUuids) {
      await before('recordsOf', docUuids);
      const found = new Map<string, CommitRecord[]>();
      for (const docUuid of docUuids) {
        const own = recordsBy(docUuid);
        if (own.length > 0) found.set(docUuid, own);
      }
      return found;
    },

    async insertChunks(objects) {
      await before('insertChunks', objects);
      const plain = ({ vector: _vector, ...rest }: ChunkObject) => canonicalJson(rest);
      for (const object of objects) insert(chunks, object, (a, b) => plain(a) === plain(b));
    },

    async insertManifest(owner, manifest) {
      await before('insertManifest', owner);
      const id = objectUuid(owner.doc_uuid, 'page', owner.attempt, 0);
      const { doc_id, doc_uuid, fence, attempt } = owner;
      insert(
        pages,
        { id, doc_id, doc_uuid, fence, attempt, manifest },
        (a, b) => canonicalJson(a.manifest) === canonicalJson(b.manifest),
      );
      return { pages: [id] };
    },

    async insertRecord(record) {
      await before('insertRecord', record);
      const plain = ({ created_ms: _created, ...rest }: CommitRecord) => canonicalJson(rest);
      insert(records, { ...record, created_ms: now() }, (a, b) => plain(a) === plain(b));
    },

    async readManifest(record) {
      await before('readManifest', record);
      const [id] = record.pages;
      if (id === undefined) return { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
      const page = pages.get(id);
      if (page === undefined) {
        throw new SluiceError('store_rejected', `the manifest of ${record.doc_id} lacks page ${id}`, { docId: record.doc_id });
      }
      return structuredClone(page.manifest);
    },

    async readChunks(ids, readOptions = {}) {
      await before('readChunks', ids);
      return ids.flatMap((id) => {
        const chunk = chunks.get(id);
        return chunk === undefined ? [] : [stored(chunk, readOptions.vectors ?? false)];
      });
    },

    async existingChunks(ids) {
      await before('existingChunks', ids);
      return new Set(ids.filter((id) => chunks.has(id)));
    },

    async countChunks(docUuid, revs, withoutIds) {
      await before('countChunks', docUuid);
      const without = new Set(withoutIds);
      return [...chunks.values()].filter((c) => c.doc_uuid === docUuid && revs.includes(c.rev) && !without.has(c.id)).length;
    },

    async vectorsByTextHash(textHashes) {
      await before('vectorsByTextHash', textHashes);
      const wanted = new Set(textHashes);
      const vectors = new Map<string, Float32Array>();
      for (const chunk of chunks.values()) if (wanted.has(chunk.text_hash)) vectors.set(chunk.text_hash, chunk.vector.slice());
      return vectors;
    },

    async listObjects(docUuid) {
      await before('listObjects', docUuid);
      const own = <T extends { id: string; doc_uuid: string }>(map: Map<string, T>) =>
        [...map.values()].filter((o) => o.doc_uuid === docUuid && !isStray(o));
      return [
        ...own(chunks).map((c): StoredObject => ({ collection: 'chunks', id: c.id, fence: c.fence, attempt: c.rev })),
        ...own(records).map((r): StoredObject => ({ collection: 'commits', id: r.id, fence: r.fence, attempt: r.attempt })),
        ...own(pages).map((p): StoredObject => ({ collection: 'pages', id: p.id, fence: p.fence, attempt: p.attempt })),
      ];
    },

    async deleteObjects(objects) {
      await before('deleteObjects', objects);
      const maps = { chunks, commits: records, pages };
      for (const { collection, id } of objects) maps[collection].delete(id);
    },

    async *walkRecords(walkOptions = {}) {
      await before('walkRecords', walkOptions);
      for (const record of records.values()) if (isStray(record)) walkOptions.onStray?.(strayOf('commits', record));
      const uuids = [...new Set([...records.values()].map((record) => record.doc_uuid))].sort();
      for (const docUuid of uuids) {
        if (walkOptions.after !== undefined && docUuid <= walkOptions.after) continue;
        const own = recordsBy(docUuid);
        if (own.length > 0) yield own;
      }
    },

    async *walkObjects(collection, walkOptions = {}) {
      await before('walkObjects', collection);
      const map: ReadonlyMap<string, ChunkObject | Page> = collection === 'chunks' ? chunks : pages;
      for (const object of map.values()) if (isStray(object)) walkOptions.onStray?.(strayOf(collection, object));
      const sorted = [...map.values()].filter((object) => !isStray(object)).sort((a, b) => (a.id < b.id ? -1 : 1));
      const uuids = [...new Set(sorted.map((object) => object.doc_uuid))];
      for (const docUuid of uuids) {
        const own = sorted.filter((object) => object.doc_uuid === docUuid);
        const [first] = own;
        if (first === undefined) continue;
        yield {
          docId: first.doc_id,
          docUuid,
          objects: own.map((object) => ({
            collection,
            id: object.id,
            fence: object.fence,
            attempt: 'rev' in object ? object.rev : object.attempt,
            ...('rev' in object
              ? { metadataHash: chunkMetadataHash(object.doc_id, object.metadata), textHash: object.text_hash }
              : {}),
          })),
        };
      }
    },

    async search(request) {
      await before('search', request);
      const vector = await request.vector;
      return rank(visible(request), { ...request, vector });
    },

    async close() {},
  };
}

function isStray({ id, doc_uuid }: { id: string; doc_uuid: string }): boolean {
  return !isOfDocument(id, doc_uuid);
}

function strayOf(collection: StrayObject['collection'], { id, doc_id: docId }: { id: string; doc_id: string }): StrayObject {
  return { collection, id, docId };
}

/** Texts are compared after NFC, on both sides. */
function normalValues(values: Record<string, FieldValue>): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string'
        ? value.normalize('NFC')
        : Array.isArray(value)
          ? value.map((member) => member.normalize('NFC'))
          : value,
    ]),
  );
}

function normalFilter(filter: Filter): Filter {
  const normal = (value: Scalar) => (typeof value === 'string' ? value.normalize('NFC') : value);
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map(normalFilter) };
    case 'not':
      return { op: 'not', of: normalFilter(filter.of) };
    case 'in':
      return { ...filter, values: filter.values.map(normal) };
    case 'const':
    case 'exists':
      return filter;
    default:
      return { ...filter, value: normal(filter.value) };
  }
}

function permittedTop(own: CommitRecord[], request: SearchRequest): CommitRecord | undefined {
  const top = topCommit(own);
  if (top === undefined || !request.mayAccess(top)) return undefined;
  return own.every((record) => record.fence <= top.base_fence || request.mayAccess(record)) ? top : undefined;
}

type Candidate = { chunk: ChunkObject; commit: CommitRecord };
type Scored = Candidate & { score: number };

type RankRequest = Omit<SearchRequest, 'vector'> & { vector: Float32Array | undefined };

function rank(candidates: Candidate[], request: RankRequest): SearchHit[] {
  const { mode, alpha } = request;
  const dense = mode === 'keyword' || (mode === 'hybrid' && alpha === 0) ? [] : byCosine(candidates, request);
  const keyword = mode === 'dense' || (mode === 'hybrid' && alpha === 1) ? [] : byWords(candidates, request.query);
  const hits = new Map<string, SearchHit>();
  const add = (part: 'dense' | 'keyword', list: Scored[], weight: number) => {
    const least = part === 'keyword' ? 0 : Math.min(...list.map((hit) => hit.score));
    const greatest = Math.max(...list.map((hit) => hit.score));
    const unit = part === 'keyword' && request.relativeKeyword === true && greatest > 0 ? greatest : 1;
    for (const { chunk, commit, score } of list) {
      const { vector: _vector, ...plain } = chunk;
      const hit: SearchHit = hits.get(chunk.id) ?? { chunk: structuredClone(plain), commit, score: 0, scores: {} };
      hit.scores[part] = score / unit;
      hit.score += mode === 'hybrid' ? weight * (greatest > least ? (score - least) / (greatest - least) : 1) : score / unit;
      hits.set(chunk.id, hit);
    }
  };
  add('dense', dense, alpha);
  add('keyword', keyword, 1 - alpha);
  const best = [...hits.values()].sort(
    (a, b) => b.score - a.score || compare(a.chunk.doc_id, b.chunk.doc_id) || compare(a.chunk.id, b.chunk.id),
  );
  for (const hit of best) if (mode === 'hybrid') hit.scores.fused = hit.score;
  const last = best[request.limit - 1];
  let end = Math.min(request.limit, best.length);
  while (last !== undefined && best[end]?.score === last.score && best[end]?.chunk.doc_id === last.chunk.doc_id) end++;
  return best.slice(0, end);
}

function byCosine(candidates: Candidate[], request: RankRequest): Scored[] {
  const { vector } = request;
  if (vector === undefined) throw new SluiceError('internal', 'a search by vector needs a vector');
  return top(candidates.map((candidate) => ({ ...candidate, score: cosine(candidate.chunk.vector, vector) })));
}

function byWords(candidates: Candidate[], query: string): Scored[] {
  const wanted = words(query, 'query');
  const texts = candidates.map(({ chunk }) => {
    const name = chunk.source_path.replace(/^.*\//, '').replace(/(?<=.)\.[^.]*$/, '');
    return words(`${chunk.embedding_text ?? ''}\n${chunk.text}\n${name}`, 'document');
  });
  const mean = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length);
  const scored = candidates.map((candidate, i) => {
    const text = texts[i] ?? [];
    let score = 0;
    for (const word of wanted) {
      const holding = texts.filter((other) => other.includes(word)).length;
      const count = text.filter((other) => other === word).length;
      if (count === 0) continue;
      const rarity = Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
      score += (rarity * count * (BM25_K1 + 1)) / (count + BM25_K1 * (1 - BM25_B + (BM25_B * text.length) / mean));
    }
    return { ...candidate, score };
  });
  return top(scored.filter((hit) => hit.score > 0));
}

/** Words and compounds: enough for a fake. The real analysis is the store's. */
function words(text: string, side: 'document' | 'query'): string[] {
  const compounds =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+(?:[-_.][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
  return compounds.flatMap((compound) => {
    const parts = compound.split(/[-_.]/u);
    if (parts.length === 1) return [compound];
    return side === 'document' || !/[\p{N}_.]/u.test(compound) ? [compound, ...parts] : [compound];
  });
}

function top(hits: Scored[]): Scored[] {
  return hits.sort((a, b) => b.score - a.score).slice(0, POOL);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0;
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
