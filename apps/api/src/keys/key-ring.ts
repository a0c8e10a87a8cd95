import { type Clock, type KeyStore, SluiceError, type StoredKey } from '@sluice/core';

/** How old the list may be: a key that another process revoked is refused after this. */
const FRESH_MS = 1_000;
/** How long the last list serves while the store does not answer. Nobody can revoke a key meanwhile: keys are in the store. */
const STALE_MS = 60_000;

export interface KeyRing {
  /** All keys, expired ones too. Error `not_ready` when they can't be read. */
  keys(): Promise<readonly StoredKey[]>;
  insert(key: StoredKey): Promise<void>;
  revoke(id: string): Promise<boolean>;
}

/** The keys, read from the store at most once a second. */
export function createKeyRing({ store, clock }: { store: KeyStore; clock: Clock }): KeyRing {
  let known: { at: number; keys: readonly StoredKey[] } | undefined;
  let reading: Promise<readonly StoredKey[]> | undefined;
  /** Grows with every change made here. A list that was asked for before the last one is not remembered. */
  let changes = 0;

  async function read(): Promise<readonly StoredKey[]> {
    const at = clock.monotonic();
    const before = changes;
    try {
      const keys = await store.list();
      if (changes === before) known = { at, keys };
      return keys;
    } catch (error) {
      if (known !== undefined && at - known.at < STALE_MS) return known.keys;
      throw new SluiceError('not_ready', 'Keys can not be read: the store does not answer.', { cause: error });
    }
  }

  function forget(): void {
    changes += 1;
    known = undefined;
    reading = undefined;
  }

  return {
    async keys() {
      if (known !== undefined && clock.monotonic() - known.at < FRESH_MS) return known.keys;
      if (reading !== undefined) return reading;
      const started = read().finally(() => {
        if (reading === started) reading = undefined;
      });
      reading = started;
      return started;
    },
    async insert(key) {
      await store.insert(key).finally(forget);
    },
    async revoke(id) {
      return store.revoke(id).finally(forget);
    },
  };
}
