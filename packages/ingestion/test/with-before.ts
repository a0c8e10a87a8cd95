import type { ChunkStore } from '@sluice/core';

/** Store operations of the writer and the sweep ahead of which an attempt may be held. */
export const STORE_CALLS = [
  'recordsOf',
  'insertChunks',
  'insertManifest',
  'insertRecord',
  'listObjects',
  'countChunks',
  'deleteObjects',
] as const;

/** The store with `before` awaited ahead of each of these operations. */
export function withBefore(store: ChunkStore, before: (call: string) => Promise<void>): ChunkStore {
  const wrapped: Partial<ChunkStore> = {};
  for (const call of STORE_CALLS) {
    const original = store[call].bind(store) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(wrapped, {
      async [call](...args: unknown[]) {
        await before(call);
        return original(...args);
      },
    });
  }
  return { ...store, ...wrapped };
}
