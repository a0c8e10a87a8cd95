import type { StoredFeedback } from '@sluice/core';
import { dropCollections, testServices } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import { createFeedbackStore } from '../src/index.js';

const url = () => testServices().weaviate;
const namespace = `f${process.pid}x${Date.now().toString(36)}`;

afterAll(() => dropCollections(url(), namespace));

it('keeps feedback across processes, and gives each once, page by page', async () => {
  const [one, other] = [createFeedbackStore({ url: url(), namespace }), createFeedbackStore({ url: url(), namespace })];
  expect((await Promise.all([one.list({ limit: 10 }), other.list({ limit: 10 })])).map((page) => page.feedback)).toEqual([
    [],
    [],
  ]);
  const given = Array.from(
    { length: 7 },
    (_, n): StoredFeedback => ({
      query: `"quoted" \\ ${n} ü`,
      doc_id: 'inbox/a.md',
      revision: 'r1',
      helpful: n % 2 === 0,
      by: 'local',
      given_at: '2024-01-01T00:00:00.000Z',
    }),
  );
  await Promise.all(given.map((feedback) => one.insert(feedback)));
  const found: StoredFeedback[] = [];
  let after: string | undefined;
  do {
    const page = await other.list({ limit: 3, ...(after === undefined ? {} : { after }) });
    found.push(...page.feedback);
    after = page.next;
  } while (after !== undefined);
  expect(found.sort((a, b) => (a.query < b.query ? -1 : 1))).toEqual(given);
  one.close();
  other.close();
});
