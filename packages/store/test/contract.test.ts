import { createMemoryStore, testServices } from '@sluice/testkit';
import { CONTRACT_DIMENSIONS, storeContract } from '@sluice/testkit/store-contract';
import { createTestStore } from './create-test-store.js';

storeContract('memory', async () => ({ store: createMemoryStore() }));

storeContract('Weaviate', async () => createTestStore(testServices().weaviate, { dimensions: CONTRACT_DIMENSIONS }));
