import type { SearchResult } from './sluice.js';

const FILLER =
  'the pump feeds the upper basin through a bronze valve and a long channel of stone while the keeper notes the level of the water twice a day in a book that hangs beside the gate and is read aloud each spring to those who live below the wall';

/** Paragraphs that a versioned document has; each is long enough to be a chunk of its own. */
const PARAGRAPHS = 4;

/** A document whose every answer tells which version it came from: half its paragraphs change with the version, half never do. */
export function versioned(name: string, version: number): string {
  return Array.from({ length: PARAGRAPHS }, (_, n) => {
    const mark = n % 2 === 0 ? `version-${version}` : 'constant';
    return `## Part ${n}\n\nmark ${name} part-${n} ${mark}. ${`${FILLER}, part ${n} of ${name}. `.repeat(3)}`;
  }).join('\n\n');
}

export interface ReaderCounts {
  polls: number;
  /** Polls that overlapped a replace under way. */
  overlapping: number;
  gaps: number;
  mixes: number;
  /** Answers older than one that the same reader had seen before. */
  stale: number;
  errors: string[];
}

/** What one answer shows of a versioned document: its version, `gap` when parts are missing, `mix` when versions mix. */
export function judge(texts: readonly string[]): number | 'gap' | 'mix' {
  const parts = new Set<number>();
  const versions = new Set<number>();
  for (const text of texts) {
    const part = /part-(\d+)/.exec(text)?.[1];
    const version = /version-(\d+)/.exec(text)?.[1];
    if (part !== undefined) {
      if (parts.has(Number(part))) return 'mix';
      parts.add(Number(part));
    }
    if (version !== undefined) versions.add(Number(version));
  }
  if (versions.size > 1) return 'mix';
  const [version] = versions;
  return parts.size === PARAGRAPHS && version !== undefined ? version : 'gap';
}

/**
 * Polls for versioned documents until it is stopped, as a consumer of the API would.
 *
 * @param search one search for one document, all its chunks wanted
 * @param isReplacing whether a replace of the document is under way
 */
export function startReaders(options: {
  names: readonly string[];
  readers: number;
  search: (name: string, poll: number) => Promise<SearchResult['results'] | { text: string }[]>;
  isReplacing: (name: string) => boolean;
  /** True while errors are expected: the API itself was killed. */
  forgiveErrors?: () => boolean;
}): { counts: ReaderCounts; stop(): Promise<void> } {
  const counts: ReaderCounts = { polls: 0, overlapping: 0, gaps: 0, mixes: 0, stale: 0, errors: [] };
  let stopped = false;
  async function read(reader: number): Promise<void> {
    const newest = new Map<string, number>();
    for (let poll = reader; !stopped; poll += 1) {
      const name = options.names[poll % options.names.length] ?? '';
      const before = options.isReplacing(name);
      let texts: string[];
      try {
        texts = (await options.search(name, poll)).map((result) => result.text);
      } catch (cause) {
        if (!options.forgiveErrors?.()) {
          counts.gaps += 1;
          if (counts.errors.length < 5) counts.errors.push(String(cause));
        }
        continue;
      }
      counts.polls += 1;
      if (before || options.isReplacing(name)) counts.overlapping += 1;
      const seen = judge(texts);
      if (seen === 'gap') counts.gaps += 1;
      else if (seen === 'mix') counts.mixes += 1;
      else if (seen < (newest.get(name) ?? 0)) counts.stale += 1;
      else newest.set(name, seen);
      if (typeof seen !== 'number' && counts.errors.length < 5)
        counts.errors.push(`${name}: ${texts.map((text) => text.slice(0, 60)).join(' | ')}`);
    }
  }
  const running = Promise.all(Array.from({ length: options.readers }, (_, n) => read(n)));
  return {
    counts,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
