import { setTimeout as sleep } from 'node:timers/promises';
import { judge } from '../support/readers.js';
import type { Api, Hit } from './api.js';
import type { Secret, Tracked } from './documents.js';
import type { Excuses } from './excuses.js';
import type { Workload } from './workload.js';

export interface ReaderCounts {
  polls: number;
  /** Polls for a document that was being replaced. */
  overlapping: number;
  gaps: number;
  mixes: number;
  /** Older than what the same reader saw, or than a commit that was known before the search began. */
  stale: number;
  /** A raised document in a search that began when the raise was known. */
  breaches: number;
  /** Polls for what was deleted or moved away, once that was seen to be committed. */
  gone: number;
  /** Errors while the API was killed or its Weaviate away or slow. */
  excused: number;
  excusedBy: Record<string, number>;
  examples: string[];
}

const LIMIT = 100;
const MODES = ['hybrid', 'dense', 'keyword'] as const;

/** Readers of level 1 that search all the time and judge each answer. */
export function startReaders(options: {
  readers: number;
  api: Api;
  workload: Workload;
  excuses: Excuses;
  pauseMs: number;
  /** Called with the first gap of a document: what the store holds of it shows why. */
  onGap: (document: string) => void;
}) {
  const { api, workload, excuses } = options;
  const counts: ReaderCounts = {
    polls: 0,
    overlapping: 0,
    gaps: 0,
    mixes: 0,
    stale: 0,
    breaches: 0,
    gone: 0,
    excused: 0,
    excusedBy: {},
    examples: [],
  };
  const looked = new Set<string>();
  let stopped = false;

  function found(kind: 'gaps' | 'mixes' | 'stale' | 'breaches', what: string): void {
    counts[kind] += 1;
    if (counts.examples.length < 20) counts.examples.push(`${new Date().toISOString()} ${kind}: ${what}`);
  }

  async function read(reader: number): Promise<void> {
    const newest = new Map<string, number>();
    const vanished = new Map<string, number>();

    function see(name: string, hits: readonly Hit[], known: number, how: string): void {
      const seen = judge(hits.map((hit) => hit.text));
      const shown = () =>
        `${name} (${how}): ${hits.map((hit) => /mark [^.]*/.exec(hit.text)?.[0] ?? hit.text.slice(0, 40)).join(' | ')}`;
      if (seen === 'gap') {
        found('gaps', shown());
        if (!looked.has(name)) options.onGap(name);
        looked.add(name);
      }
      if (seen === 'mix') found('mixes', shown());
      if (typeof seen === 'number') {
        if (seen < Math.max(known, newest.get(name) ?? -1))
          found('stale', `${name}: version ${seen}, known ${known}, seen before ${newest.get(name) ?? -1}`);
        newest.set(name, Math.max(seen, newest.get(name) ?? -1));
      }
    }

    async function pollOne(document: Tracked, mode: string): Promise<void> {
      const known = document.committed;
      const before = document.replacing;
      const hits = await search(`mark ${document.name} part version`, mode, { source_path: document.path });
      if (before || document.replacing) counts.overlapping += 1;
      see(document.name, hits, known, mode);
      if (new Set(hits.map((hit) => hit.metadata.category)).size > 1)
        found('mixes', `${document.name}: ${hits.map((hit) => hit.metadata.category).join(', ')}`);
    }

    async function pollSteady(mode: string): Promise<void> {
      const before = workload.steady.map((document) => ({ document, known: document.committed, replacing: document.replacing }));
      const hits = await search('mark part version', mode, { category: 'steady' });
      if (before.some(({ document, replacing }) => replacing || document.replacing)) counts.overlapping += 1;
      for (const { document, known } of before) {
        see(
          document.name,
          hits.filter((hit) => hit.doc_id.endsWith(`/${document.name}.md`)),
          known,
          `all, ${mode}`,
        );
      }
    }

    async function pollRoaming(mode: string): Promise<void> {
      const hits = await search('mark part version', mode, { category: 'roam' });
      // Of the document at the end of an answer that is full the rest may not have had room.
      if (hits.length === LIMIT) return;
      for (const docId of new Set(hits.map((hit) => hit.doc_id)))
        see(
          docId,
          hits.filter((hit) => hit.doc_id === docId),
          -1,
          `all, ${mode}`,
        );
    }

    async function pollSecret(secret: Secret, mode: string): Promise<void> {
      const { epoch, hidden, visible, level } = secret;
      const before = secret.replacing;
      const hits = await search(`mark ${secret.name} part version`, mode, { source_path: secret.path });
      if (before || secret.replacing) counts.overlapping += 1;
      if (secret.epoch !== epoch) return;
      if (hits.length === 0) {
        if (level > 1) vanished.set(secret.name, epoch);
        else if (visible) found('gaps', `${secret.name}: nothing though it is open to all`);
        return;
      }
      if (hidden) found('breaches', `${secret.name}: shown though its raise was committed`);
      else if (vanished.get(secret.name) === epoch) found('breaches', `${secret.name}: shown again after it had vanished`);
      see(secret.name, hits, -1, mode);
    }

    async function pollGone(mode: string): Promise<void> {
      const known = workload.vanished.filter((one) => one.known && !one.back).slice(-20);
      const one = known[counts.polls % Math.max(1, known.length)];
      if (one === undefined) return;
      const hits = await search('mark part version', mode, { source_path: one.path });
      counts.gone += 1;
      if (hits.length > 0 && !one.back) found('stale', `${one.path} (${mode}): shown though its end was committed`);
    }

    async function search(query: string, mode: string, filter: Record<string, unknown>): Promise<Hit[]> {
      const hits = await api.search({ query, mode, limit: LIMIT, filter });
      counts.polls += 1;
      return hits;
    }

    for (let poll = reader; !stopped; poll += 1) {
      const mode = MODES[poll % MODES.length] ?? 'hybrid';
      const kinds = [
        () => pollOne(pickOf(workload.steady, poll), mode),
        () => pollSteady(mode),
        () => pollSecret(pickOf(workload.secrets, poll), mode),
        () => pollOne(pickOf(workload.steady, poll + 3), mode),
        () => pollRoaming(mode),
        () => pollGone(mode),
        () => pollOne(pickOf(workload.metas, poll), mode),
        () => pollSecret(pickOf(workload.secrets, poll + 1), mode),
      ];
      const began = performance.now();
      try {
        await pickOf(kinds, poll)();
      } catch (cause) {
        const why = excuses.coverSince(began);
        if (why !== undefined) {
          counts.excused += 1;
          counts.excusedBy[why] = (counts.excusedBy[why] ?? 0) + 1;
        } else found('gaps', String(cause));
        await sleep(100);
      }
      await sleep(options.pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: options.readers }, (_, n) => read(n * 5)));
  return {
    counts,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

function pickOf<T>(values: readonly T[], at: number): T {
  const value = values[Math.floor(at / 2) % values.length];
  if (value === undefined) throw new Error('nothing to read');
  return value;
}
