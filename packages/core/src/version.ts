/** Version of the product; equals every package.json of the repository (a test checks it). */
export const VERSION = '0.1.0';

/**
 * Version of what the store keeps for keyword search of a chunk's text: part of the fingerprint and of each chunk object's hash. Where it
 * has grown, chunk objects are written again, with the vectors they have.
 */
export const KEYWORD_VERSION = 3;
