import { createMemoryStore, createWordEmbedder, storeDocument } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { compareIndexes } from './compare-indexes.js';

it('counts documents that stand in another index as in the live one', async () => {
  const [live, other] = [createMemoryStore(), createMemoryStore()];
  const embedder = createWordEmbedder();
  const put = (store: typeof live, docId: string, text: string, level: 1 | 4 = 1) =>
    storeDocument(store, embedder, { docId, text, metadata: { security_level: level } });
  for (const n of [1, 2, 3, 4]) await put(live, `inbox/${n}.md`, `text ${n}`);
  expect(await compareIndexes(live, other)).toMatchObject({ documents: 4, same: 0, failed: 0 });
  await put(other, 'inbox/1.md', 'text 1');
  await put(other, 'inbox/2.md', 'text 2', 4);
  await put(other, 'inbox/gone.md', 'only here');
  await storeDocument(other, embedder, { docId: 'inbox/3.md', record: { status: 'failed', reason: 'embed_failed' } });
  const result = await compareIndexes(live, other);
  expect(result).toMatchObject({ documents: 4, same: 1, failed: 1 });
  expect(result.examples[0]).toBe('inbox/3.md');
  expect(result.examples).toHaveLength(3);
});
