/** Addresses of the real services a test run was given. */
export interface TestServices {
  /** Redis URL. Use a key prefix of your own; never flush. */
  readonly redis: string;
  /** Weaviate's HTTP URL. Use collection names of your own, and delete them. */
  readonly weaviate: string;
  /** Folder of the embedding model, ending in `Xenova/all-MiniLM-L6-v2`. */
  readonly model: string;
}

/**
 * The services that `npm test` starts and names in the environment. Reading one that was not given is an error, so that a test
 * that needs it fails instead of passing unrun.
 */
export function testServices(): TestServices {
  return {
    get redis() {
      return given('SLUICE_TEST_REDIS_URL');
    },
    get weaviate() {
      return given('SLUICE_TEST_WEAVIATE_URL');
    },
    get model() {
      return given('SLUICE_TEST_MODEL');
    },
  };
}

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`This test needs a real service: ${name} is not set. Run it with "npm test -- <filter>".`);
  }
  return value;
}
