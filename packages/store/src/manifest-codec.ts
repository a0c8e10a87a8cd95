import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import type { DroppedFact, Manifest, ManifestEntry, PageStart } from '@sluice/core';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Entries of a page: an edit of a document of this size rewrites one or two pages. */
const PAGE_ENTRIES = 1_000;

/** UTF-16 units of the gaps, dropped facts and parents of a page; one alone may be larger. */
const PAGE_UNITS = 200_000;

interface Page {
  /** Number of this page, from 0, and how many there are. */
  n: number;
  of: number;
  length: number;
  entries: ManifestEntry[];
  gaps: Manifest['gaps'];
  pages: PageStart[];
  dropped: DroppedFact[];
  parents?: [string, { start: number; end: number }][];
}

/** A manifest as texts of bounded size, one a page. Offsets stay absolute. */
export async function encodeManifest(manifest: Manifest): Promise<string[]> {
  const parents = manifest.parents === undefined ? undefined : Object.entries(manifest.parents);
  const parts = {
    entries: inRuns(manifest.entries, PAGE_ENTRIES, () => 0),
    gaps: inRuns(manifest.gaps, PAGE_ENTRIES * 4, (gap) => gap.text.length),
    pages: inRuns(manifest.pages, PAGE_ENTRIES * 4, () => 0),
    dropped: inRuns(manifest.dropped, PAGE_ENTRIES, (fact) => fact.text.length),
    parents: inRuns(parents ?? [], PAGE_ENTRIES * 4, () => 0),
  };
  const count = Math.max(1, ...Object.values(parts).map((runs) => runs.length));
  const pages = Array.from(
    { length: count },
    (_, n): Page => ({
      n,
      of: count,
      length: manifest.length,
      entries: parts.entries[n] ?? [],
      gaps: parts.gaps[n] ?? [],
      pages: parts.pages[n] ?? [],
      dropped: parts.dropped[n] ?? [],
      ...(parents === undefined ? {} : { parents: parts.parents[n] ?? [] }),
    }),
  );
  return Promise.all(pages.map(async (page) => (await deflated(JSON.stringify(page))).toString('base64')));
}

/** Up to so many UTF-16 units a way through another thread takes several times as long as the work. */
const DEFLATE_HERE = 20_000;

async function deflated(json: string): Promise<Buffer> {
  return json.length <= DEFLATE_HERE ? deflateRawSync(json, { level: 3 }) : deflate(json, { level: 3 });
}

/**
 * @param data texts of the pages, in order
 * @throws Error when a page is damaged, missing or out of order
 */
export async function decodeManifest(data: readonly string[]): Promise<Manifest> {
  const manifest: Manifest = { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
  let parents: Record<string, { start: number; end: number }> | undefined;
  for (const [n, text] of data.entries()) {
    const page = JSON.parse((await inflate(Buffer.from(text, 'base64'))).toString('utf8')) as Page; // written by encodeManifest() alone
    if (page.n !== n || page.of !== data.length) throw new Error(`page ${n} of ${data.length} is page ${page.n} of ${page.of}`);
    manifest.length = page.length;
    for (const entry of page.entries) manifest.entries.push(entry);
    for (const gap of page.gaps) manifest.gaps.push(gap);
    for (const start of page.pages) manifest.pages.push(start);
    for (const fact of page.dropped) manifest.dropped.push(fact);
    if (page.parents !== undefined) parents = { ...parents, ...Object.fromEntries(page.parents) };
  }
  return parents === undefined ? manifest : { ...manifest, parents };
}

function inRuns<T>(items: readonly T[], maxItems: number, unitsOf: (item: T) => number): T[][] {
  const runs: T[][] = [];
  let run: T[] = [];
  let units = 0;
  for (const item of items) {
    if (run.length > 0 && (run.length === maxItems || units + unitsOf(item) > PAGE_UNITS)) {
      runs.push(run);
      run = [];
      units = 0;
    }
    run.push(item);
    units += unitsOf(item);
  }
  if (run.length > 0) runs.push(run);
  return runs;
}
