import type { Caller, SecurityLevel } from '../documents.js';

/** A key of the API as it is stored: what it allows, and a hash of its secret, never the secret. */
export interface StoredKey {
  /** Public id, by which a key is revoked. */
  id: string;
  name: string;
  /** sha256 of the secret in hex. */
  hash: string;
  role: Caller['role'];
  clearance: SecurityLevel;
  groups: string[];
  /** The only sources it opens; absent: all. */
  sources?: string[];
  /** ISO instant. */
  created_at: string;
  /** ISO instant from which the key is refused; absent: never. */
  expires_at?: string;
}

/** Where keys are kept: in the store, so that they outlive Redis. */
export interface KeyStore {
  /** All keys, oldest first. */
  list(): Promise<StoredKey[]>;
  /** Error `store_rejected` when another key has this id. */
  insert(key: StoredKey): Promise<void>;
  /** False when there is no such key. */
  revoke(id: string): Promise<boolean>;
}
