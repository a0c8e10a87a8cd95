import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBudgetWorld, type Spent } from './budget-world.js';

/**
 * What a piece of work may ask of the services and the disk. Whoever adds a request to a document's path changes this table and says why.
 * Bounds are at most a quarter above what is measured; requests that are not named may not occur.
 */
interface Budget {
  /** Requests to Weaviate by kind, with their reason, for one document. */
  requests: Record<string, { most: number; why: string }>;
  /**
   * Rows in answers of Weaviate, kilobytes both ways, commands to Redis, calls of the file system; for one document. Each look at a file
   * asks for three names of a sidecar: a level that is not seen would show the document to everyone.
   */
  rows: number;
  kilobytes: number;
  commands: number | undefined;
  files: number;
}

const THREE_READS = 'the base after the fence, again before the commit, and after it';

const BUDGETS = {
  alone: {
    requests: {
      records: { most: 3, why: THREE_READS },
      'vectors by text hash': { most: 1, why: 'a text that is stored already is not embedded again' },
      'insert of one object': { most: 2, why: 'the chunk, then the commit' },
    },
    rows: 1,
    kilobytes: 13,
    commands: 12,
    files: 17,
  },
  together: {
    requests: {
      records: { most: 0.5, why: `${THREE_READS}: shared by the documents that are worked on` },
      'vectors by text hash': { most: 0.19, why: 'shared likewise' },
      'insert of one object': { most: 0.09, why: 'the last documents find nobody to share with' },
      'insert of a batch': { most: 0.32, why: 'one for the chunks and one for the commits of several documents' },
      'flush of the vector index': { most: 0.17, why: 'acknowledges each batch of chunks' },
    },
    rows: 1,
    kilobytes: 12.7,
    commands: 7.7,
    files: 18,
  },
  unchanged: {
    requests: { records: { most: 0.15, why: 'compared with the disk: shared by the documents that are worked on' } },
    rows: 1,
    kilobytes: 2.1,
    commands: 6.4,
    files: 10,
  },
  edit: {
    requests: {
      records: {
        most: 7,
        why: `compared with the disk; ${THREE_READS}; garbage collection: before it lists, and before it deletes`,
      },
      'objects by id': { most: 1, why: 'the manifest of the base' },
      'vectors by text hash': { most: 1, why: 'of the new chunk' },
      'count of chunks': { most: 1, why: 'kept chunks must be there' },
      'insert of one object': { most: 3, why: 'the chunk, the manifest, the commit' },
      walk: { most: 11, why: 'garbage collection lists the three collections of the document, in pages that grow' },
      delete: { most: 3, why: 'the chunk, the manifest and the commit that were replaced' },
    },
    rows: 1250,
    kilobytes: 940,
    commands: 13,
    files: 23,
  },
  delete: {
    requests: {
      records: {
        most: 7,
        why: `compared with the disk; ${THREE_READS}; garbage collection: before it lists, and before it deletes`,
      },
      'insert of one object': { most: 1, why: 'the commit with nothing live' },
      walk: { most: 3, why: 'garbage collection lists the three collections of the document' },
      delete: { most: 2, why: 'the chunk and the commit before' },
    },
    rows: 31,
    kilobytes: 31,
    commands: 13,
    files: 5,
  },
  search: {
    requests: {
      search: { most: 2, why: 'the dense and the keyword half' },
      records: { most: 2, why: 'what is visible of the documents found; then the commits of those that are returned' },
      'objects by id': { most: 1, why: 'the chunks that are returned' },
    },
    rows: 290,
    kilobytes: 82,
    // It has no connection to Redis: what is counted meanwhile is the worker's check for lost jobs.
    commands: undefined,
    files: 0,
  },
} satisfies Record<string, Budget>;

let world: Awaited<ReturnType<typeof createBudgetWorld>>;
beforeAll(async () => {
  world = await createBudgetWorld();
});
afterAll(() => world.close());

function check(spent: Spent, { requests, ...most }: Budget): void {
  const over = Object.entries(spent.requests).filter(([kind, count]) => count > (requests[kind]?.most ?? 0));
  const { rows, kilobytes, commands, files } = spent;
  // One line that shows what was spent, for whoever has to change a bound.
  const shown = JSON.stringify(spent);
  expect(over, shown).toEqual([]);
  for (const [name, value] of Object.entries({ rows, kilobytes, commands, files })) {
    expect(value, `${name}: ${shown}`).toBeLessThanOrEqual(most[name as keyof typeof most] ?? Number.POSITIVE_INFINITY);
  }
}

const text = (n: number) => `Document ${n} is about the harbour, its ${n} cranes and what they lifted in year ${1900 + n}.`;

describe('work for', () => {
  it('a new document of one chunk, alone', async () => {
    check(await world.spentOn({ 'new.txt': text(0) }, 'add'), BUDGETS.alone);
  });

  it('200 of them at once', async () => {
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`many/${n}.txt`, text(n + 1)]));
    check(await world.spentOn(files, 'add'), BUDGETS.together);
  });

  it('the same, unchanged', async () => {
    check(await world.spentOn(world.pathsBelow('many/'), 'scan'), BUDGETS.unchanged);
  });

  it('a search', async () => {
    check(await world.spentOnSearch('harbour cranes'), BUDGETS.search);
  });

  // Garbage collection works in the order of commits: what it did for the documents above would be counted here.
  it('an edit in a document of 1,000 chunks', async () => {
    const paragraphs = Array.from({ length: 1000 }, (_, n) => `Paragraph ${n} tells of house ${n * 7} and its miller.`);
    await world.spentOn({ 'long.txt': paragraphs.join('\n\n') }, 'add');
    paragraphs[500] = 'This paragraph was changed.';
    check(await world.spentOn({ 'long.txt': paragraphs.join('\n\n') }, 'change', { deletes: 3 }), BUDGETS.edit);
  });

  it('a delete', async () => {
    check(await world.spentOn({ 'new.txt': undefined }, 'unlink', { deletes: 2 }), BUDGETS.delete);
  });
});
